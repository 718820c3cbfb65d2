package dev.twinbox.console;

import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import java.util.Locale;
import java.util.Set;

/**
 * The login of a browser: a token is exchanged for a cookie that scripts cannot read, and that no other site's page can
 * make the browser send. The token itself is kept nowhere.
 */
final class Login {
    private static final String TOKEN = "token";
    private static final String ROLE = "role";

    private final Access access;
    private final String path;

    /** @param path below which the browser sends the cookie */
    Login(Access access, String path) {
        this.access = access;
        this.path = path;
    }

    /** Begins a session. One that the browser has ends: its id may be somebody else's. */
    WebAnswer begin(WebRequest request, JsonObject body) {
        if (!body.keySet().equals(Set.of(TOKEN)) || !(body.get(TOKEN) instanceof JsonString token)) {
            throw new ProblemException(400, "Send {\"token\": \"…\"}");
        }
        Role role = access.roleOf(token.getString());
        access.endSession(request);
        return answer(role)
                .with("Set-Cookie", cookie(request, access.beginSession(role), Sessions.LIFETIME.toSeconds()));
    }

    /** Ends the session, if there is one. */
    WebAnswer end(WebRequest request) {
        access.endSession(request);
        return answer(Role.STRANGER).with("Set-Cookie", cookie(request, "", 0));
    }

    static JsonObject session(Role role) {
        return Json.createObjectBuilder()
                .add(ROLE, role.name().toLowerCase(Locale.ROOT))
                .build();
    }

    private static WebAnswer answer(Role role) {
        return WebAnswer.of(200, WebAnswer.JSON, session(role).toString());
    }

    private String cookie(WebRequest request, String id, long seconds) {
        return Sessions.cookieName(request) + "=" + id + "; Path=" + path + "; Max-Age=" + seconds
                + "; HttpOnly; SameSite=Strict" + (request.isEncrypted() ? "; Secure" : "");
    }
}
