package dev.twinbox.console;

import java.util.Set;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/**
 * What Jetty refuses before a page is asked. A malformed request gets a 400, without anything of the request in it. The
 * sender of too long a header is hung up on: it would rarely read an answer.
 */
final class Refusals extends ErrorHandler {

    private static final Set<Integer> TOO_LONG =
            Set.of(HttpStatus.URI_TOO_LONG_414, HttpStatus.REQUEST_HEADER_FIELDS_TOO_LARGE_431);

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = request.getAttribute(ERROR_STATUS) instanceof Integer refused ? refused : response.getStatus();
        WebExchange exchange = new WebExchange(request, response, callback);
        if (TOO_LONG.contains(status)) {
            exchange.hangUp();
            return true;
        }
        WebAnswer answer = status == HttpStatus.INTERNAL_SERVER_ERROR_500
                ? WebAnswer.text(status, "The request cannot be answered, the log says why")
                : WebAnswer.text(HttpStatus.BAD_REQUEST_400, "The request is not HTTP/1.1");
        exchange.send(answer, () -> {});
        return true;
    }
}
