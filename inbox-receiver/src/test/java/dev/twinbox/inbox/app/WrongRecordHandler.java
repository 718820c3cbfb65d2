package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.sql.SQLException;

/** Handles every event that reaches it. */
@ApplicationScoped
public class WrongRecordHandler {

    @Inject
    private Script script;

    @InboxHandler(topic = "wrong-records", type = "order", name = "wrong-records")
    public void onOrder(Order order, EventContext context) throws SQLException {
        script.writeEffect("wrong-records", context.id());
    }
}
