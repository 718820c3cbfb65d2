package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.EventType;
import dev.twinbox.InboxHandler;
import jakarta.ejb.Stateless;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbProperty;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;

/** Handlers of all legal shapes. Each stores what it was given. */
@ApplicationScoped
public class ShapeHandlers {

    /** Its annotation names topic and type. */
    @EventType(value = "shape.typed", topic = "shapes")
    public record Typed(String id, String text) {
        @JsonbCreator
        public Typed(@JsonbProperty("id") String id, @JsonbProperty("text") String text) {
            this.id = id;
            this.text = text;
        }
    }

    /** Lives as long as a batch. */
    @RequestScoped
    public static class OfRequest {
        public String greet() {
            return "request scope is active";
        }
    }

    @Inject
    private Script script;

    @Inject
    private OfRequest request;

    @InboxHandler
    public void typed(Typed event) throws SQLException {
        script.writeEffect("typed", event.id() + " " + event.text());
    }

    @InboxHandler
    public void withContext(Typed event, EventContext context) throws SQLException {
        script.writeEffect(
                "withContext",
                String.join(
                        " ",
                        context.id(),
                        context.type(),
                        context.source(),
                        String.valueOf(context.time()),
                        context.key(),
                        context.topic(),
                        Integer.toString(context.partition()),
                        context.headers().get("traceparent")));
        script.writeEffect("request", request.greet());
    }

    @InboxHandler
    public void list(List<Typed> events) throws SQLException {
        script.writeEffect("list", events.stream().map(Typed::id).collect(Collectors.joining(" ")));
    }

    @InboxHandler(topic = "shapes", type = "shape.typed")
    public void bytes(byte[] value) throws SQLException {
        script.writeEffect("bytes", value == null ? "tombstone" : new String(value, StandardCharsets.UTF_8));
    }

    @InboxHandler(topic = "shapes", type = "shape.text")
    public void text(String value) throws SQLException {
        script.writeEffect("text", value);
    }

    @InboxHandler(topic = "shapes", type = "shape.gone")
    public void tombstone(byte[] value) throws SQLException {
        script.writeEffect("tombstone", value == null ? "no value" : "a value");
    }

    /** Called through its business interface. */
    public interface Business {
        void onText(String value) throws SQLException;
    }

    /** Without a no-interface view. */
    @Stateless
    public static class OfInterface implements Business {

        @Inject
        private Script script;

        @Override
        @InboxHandler(topic = "shapes", type = "shape.text")
        public void onText(String value) throws SQLException {
            script.writeEffect("ofInterface", value);
        }
    }
}
