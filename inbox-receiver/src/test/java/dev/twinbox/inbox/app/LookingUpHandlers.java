package dev.twinbox.inbox.app;

import dev.twinbox.InboxHandler;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.net.URI;
import java.sql.SQLException;
import java.time.Duration;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/** Looks the customer of an order up, which is the order's action here. */
@ApplicationScoped
public class LookingUpHandlers {

    @Resource
    private ManagedExecutorService executor;

    @Inject
    @ConfigProperty(name = "test.customers")
    private String address;

    @Inject
    private Script script;

    private CustomerLookup lookup;

    @PostConstruct
    void start() {
        lookup = new CustomerLookup(URI.create(address), executor, Duration.ofMinutes(10));
    }

    @InboxHandler(topic = "looking-up", type = "order", name = "looking-up")
    public void onOrder(Order order) throws SQLException {
        script.noteCall("looking-up", order.id());
        lookup.customer(order.action());
        script.writeEffect("looking-up", order.id());
    }
}
