package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.EventType;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.json.bind.annotation.JsonbCreator;
import jakarta.json.bind.annotation.JsonbProperty;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;

/** Handlers of events from all kinds of producers. Each stores what it was given. */
@ApplicationScoped
public class AnyProducerHandlers {

    @EventType(value = "order.placed", topic = "any-cloudevents", aliases = "OrderPlacedEvent")
    public record Placed(String text) {
        @JsonbCreator
        public Placed(@JsonbProperty("text") String text) {
            this.text = text;
        }
    }

    @Inject
    private Script script;

    @InboxHandler
    public void placed(Placed event, EventContext context) throws SQLException {
        script.writeEffect(
                "placed",
                event.text() + " " + context.id() + " " + context.type() + " " + context.source() + " " + context.time()
                        + " " + context.headers().get("ce_subject") + " "
                        + context.headers().get("ce_tenant"));
    }

    @InboxHandler(topic = "any-cloudevents", type = "order.placed")
    public void placedAsBytes(byte[] value) throws SQLException {
        script.writeEffect("placedAsBytes", value == null ? "none" : new String(value, StandardCharsets.UTF_8));
    }

    @InboxHandler(topic = "outbox.event.order", type = "OrderCreated")
    public void created(Placed event, EventContext context) throws SQLException {
        script.writeEffect("created", event.text() + " " + context.id() + " " + context.key());
    }

    @InboxHandler(topic = "any-plain", type = "reading")
    public void reading(String value, EventContext context) throws SQLException {
        script.writeEffect("reading", value + " " + context.id());
    }

    @InboxHandler(topic = "any-json", type = "measured", aliases = "measurement")
    public void measured(byte[] value, EventContext context) throws SQLException {
        script.writeEffect("measured", new String(value, StandardCharsets.UTF_8) + " " + context.id());
    }

    @InboxHandler(topic = "any-keyed", type = "customer")
    public void customer(String value, EventContext context) throws SQLException {
        script.writeEffect("customer", value + " " + context.id());
    }
}
