package dev.twinbox.console;

import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** A request that waits for its answer. */
record WebExchange(Request request, Response response, Callback callback) {

    /**
     * Answers, with the headers that each answer has.
     *
     * @param whenSent called when the client has all of it, or never will
     */
    void send(WebAnswer answer, Runnable whenSent) {
        byte[] body = answer.bytes();
        HttpFields.Mutable headers = response.getHeaders();
        response.setStatus(answer.status());
        headers.put(HttpHeader.CONTENT_TYPE, answer.contentType());
        headers.put(HttpHeader.CONTENT_LENGTH, body.length);
        headers.put(HttpHeader.CACHE_CONTROL, "no-store");
        // What a client sent may come back as text, and must stay text.
        headers.put("X-Content-Type-Options", "nosniff");
        answer.headers().forEach(headers::put);
        response.write(true, ByteBuffer.wrap(body), Callback.from(callback, whenSent));
    }

    /** For a client that would not read an answer, or sends more than anybody would read. */
    void hangUp() {
        request.getConnectionMetaData().getConnection().getEndPoint().close();
        callback.failed(new EofException("the connection was closed on purpose"));
    }
}
