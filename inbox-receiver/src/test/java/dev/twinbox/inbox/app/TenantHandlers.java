package dev.twinbox.inbox.app;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;

/** A handler that keeps something about the current event in a bean of the request. */
@ApplicationScoped
public class TenantHandlers {

    /** Whom the event is about. */
    @RequestScoped
    public static class Tenant {
        private String name = "nobody";

        public String name() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }
    }

    @Inject
    private Script script;

    @Inject
    private Tenant tenant;

    @InboxHandler(topic = "tenants", type = "order", name = "tenants")
    public void onOrder(Order order, EventContext context) throws Exception {
        String given = context.headers().get("tenant");
        if (given != null) {
            tenant.setName(given);
        }
        script.writeEffect("of " + tenant.name(), order.id());
    }
}
