package dev.twinbox.console;

import jakarta.json.JsonException;
import jakarta.json.JsonObject;
import jakarta.json.stream.JsonParser;
import java.io.StringReader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Operations over HTTP with JSON. A {@code GET} changes nothing. A {@code POST} has a JSON object as body, also if there
 * is nothing to say. Refusals are problem details (RFC 9457).
 */
public final class Api implements WebPage {
    private static final Logger LOG = LoggerFactory.getLogger(Api.class);

    private static final int MOST_BODY_BYTES = 64 * 1024;

    /**
     * What somebody asks for.
     *
     * @param path values of the path's placeholders
     * @param query the parameters of the address; empty for a {@code POST}
     * @param body empty for a {@code GET}
     */
    public record Call(Map<String, String> path, Map<String, String> query, JsonObject body) {

        /**
         * The number at a placeholder.
         *
         * @throws ProblemException if there is none
         */
        public long number(String placeholder) {
            String text = path.getOrDefault(placeholder, "");
            if (!text.matches("\\d{1,18}")) {
                throw new ProblemException(404, "\"" + placeholder + "\" of the path must be a whole number");
            }
            return Long.parseLong(text);
        }
    }

    /** What is done. It may be called by many threads at the same time. */
    @FunctionalInterface
    public interface Operation {
        JsonObject run(Call call);
    }

    /** Answers whoever has the role that is needed. */
    private interface Responder {
        WebAnswer answer(WebRequest request, Role role, Call call);
    }

    private record Route(String method, List<String> segments, Role needed, Responder responder) {

        /** The placeholders' values; null if the path is another one. */
        @Nullable Map<String, String> match(List<String> asked) {
            if (asked.size() != segments.size()) {
                return null;
            }
            Map<String, String> values = new HashMap<>();
            for (int i = 0; i < asked.size(); i++) {
                String segment = segments.get(i);
                if (segment.startsWith("{")) {
                    values.put(segment.substring(1, segment.length() - 1), asked.get(i));
                } else if (!segment.equals(asked.get(i))) {
                    return null;
                }
            }
            return values;
        }

        @Override
        public String toString() {
            return method + " " + String.join("/", segments);
        }
    }

    private final String server;
    private final String prefix;
    private final Access access;
    private final List<Route> routes = new ArrayList<>();

    /**
     * Without operations.
     *
     * @param server whose log has the reason of what cannot be answered, for example "relay"
     * @param prefix of all paths, without a slash at the end
     */
    public Api(String server, String prefix, Access access) {
        this.server = server;
        this.prefix = prefix;
        this.access = access;
    }

    /** Adds an operation that only reads. A path may have placeholders: {@code /parked/{number}}. */
    public Api get(String path, Role needed, Operation operation) {
        return route("GET", path, needed, (request, role, call) -> json(operation, call));
    }

    /** Adds an operation that changes. It always needs the operator. */
    public Api post(String path, Operation operation) {
        return route("POST", path, Role.OPERATOR, (request, role, call) -> json(operation, call));
    }

    /**
     * Adds {@code POST /login} and {@code POST /logout} for the pages of a browser, and {@code GET /session}, which says
     * who asks. A login lasts for eight hours, and at most as long as this process.
     */
    public Api withLogin() {
        Login login = new Login(access, prefix);
        return route("POST", "/login", Role.STRANGER, (request, role, call) -> login.begin(request, call.body()))
                .route("POST", "/logout", Role.STRANGER, (request, role, call) -> login.end(request))
                .route(
                        "GET",
                        "/session",
                        Role.VISITOR,
                        (request, role, call) -> WebAnswer.of(
                                200, WebAnswer.JSON, Login.session(role).toString()));
    }

    private Api route(String method, String path, Role needed, Responder responder) {
        routes.add(new Route(method, segments(prefix + path), needed, responder));
        return this;
    }

    private static WebAnswer json(Operation operation, Call call) {
        return WebAnswer.of(200, WebAnswer.JSON, operation.run(call).toString());
    }

    /** Method and path of each operation. */
    public Set<String> routes() {
        return routes.stream().map(Route::toString).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Whether this path is one of the API's, known or not. */
    public boolean owns(String path) {
        return path.equals(prefix) || path.startsWith(prefix + "/");
    }

    @Override
    public WebAnswer answer(WebRequest request) {
        try {
            List<String> asked = segments(request.path());
            Role role = isOpen(asked) ? access.stranger(request) : access.role(request);
            Route route = route(request.method(), asked);
            if (!role.includes(route.needed())) {
                throw forbidden(route.needed());
            }
            return route.responder().answer(request, role, call(request, route, asked));
        } catch (ProblemException e) {
            return e.answer();
        } catch (RuntimeException e) {
            LOG.error("{} {} cannot be answered; report it", request.method(), prefix, e);
            return new ProblemException(500, "It cannot be answered, the " + server + "'s log says why").answer();
        }
    }

    /** Whether a stranger may ask at this path. */
    private boolean isOpen(List<String> asked) {
        return routes.stream().anyMatch(route -> route.needed() == Role.STRANGER && route.match(asked) != null);
    }

    private static ProblemException forbidden(Role needed) {
        return new ProblemException(
                403,
                "This needs the token of a" + (needed == Role.OPERATOR ? "n " : " ")
                        + needed.name().toLowerCase(Locale.ROOT));
    }

    private Route route(String method, List<String> asked) {
        String wanted = method.equals("HEAD") ? "GET" : method;
        SortedSet<String> others = new TreeSet<>();
        for (Route route : routes) {
            if (route.match(asked) != null) {
                if (route.method().equals(wanted)) {
                    return route;
                }
                others.add(route.method());
            }
        }
        throw others.isEmpty()
                ? new ProblemException(404, "There is nothing here: see " + prefix + "/openapi.json")
                : new ProblemException(405, "Use " + String.join(" or ", others));
    }

    private static Call call(WebRequest request, Route route, List<String> asked) {
        Map<String, String> path = route.match(asked);
        if (path == null) {
            throw new IllegalStateException("the route was chosen by another path");
        }
        if (route.method().equals("GET")) {
            return new Call(path, request.query(), JsonObject.EMPTY_JSON_OBJECT);
        }
        if (!request.query().isEmpty()) {
            throw new ProblemException(400, "Send parameters in the body");
        }
        return new Call(path, Map.of(), body(request));
    }

    /** A form of a page cannot send this content type. */
    private static JsonObject body(WebRequest request) {
        String type =
                String.valueOf(request.header("Content-Type")).split(";", 2)[0].strip();
        if (!type.equalsIgnoreCase(WebAnswer.JSON) || request.header("Content-Encoding") != null) {
            throw new ProblemException(415, "Send a JSON object as " + WebAnswer.JSON + ", not compressed");
        }
        byte[] body = request.body(MOST_BODY_BYTES);
        try {
            return parse(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString());
        } catch (CharacterCodingException | RuntimeException e) { // Too deep JSON is a plain RuntimeException.
            throw new ProblemException(400, "The body is not a JSON object in UTF-8 that has each member once");
        }
    }

    private static JsonObject parse(String text) {
        try (JsonParser parser = Json.createParser(new StringReader(text))) {
            if (parser.next() != JsonParser.Event.START_OBJECT) {
                throw new JsonException("no object");
            }
            JsonObject object = parser.getObject();
            if (parser.hasNext()) {
                throw new JsonException("more than one document");
            }
            refuseRepeatedMembers(text);
            return object;
        }
    }

    /** Of a member that comes twice, the parser takes the last one. Whoever checks the body may take the first. */
    private static void refuseRepeatedMembers(String text) {
        Deque<Set<String>> members = new ArrayDeque<>();
        try (JsonParser parser = Json.createParser(new StringReader(text))) {
            while (parser.hasNext()) {
                switch (parser.next()) {
                    case START_OBJECT -> members.push(new HashSet<>());
                    case END_OBJECT -> members.pop();
                    case KEY_NAME -> {
                        if (!members.element().add(parser.getString())) {
                            throw new JsonException("a member twice");
                        }
                    }
                    default -> {} // has no name
                }
            }
        }
    }

    private static List<String> segments(String path) {
        return List.of(path.split("/", -1));
    }
}
