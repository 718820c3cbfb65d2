package dev.twinbox.proof.servers.plain;

import dev.twinbox.InboxHandler;
import dev.twinbox.Outbox;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.ejb.SessionContext;
import jakarta.ejb.Stateless;
import java.util.UUID;
import org.eclipse.microprofile.config.ConfigProvider;

/** Writes and receives by plain JDBC. The application has no persistence unit. */
@Stateless
public class Desk {

    @EJB
    private Rows rows;

    @Resource
    private SessionContext context;

    @Outbox
    public Changed change(String ref, boolean commit) {
        rows.write(dataSource(), "insert into business (ref, account, announced) values (?, 1, false)", ref);
        if (!commit) {
            context.setRollbackOnly();
        }
        return new Changed(1, ref);
    }

    /** Publishes without a row. */
    @Outbox
    public Changed announce(String ref) {
        return new Changed(1, ref);
    }

    /** The event as it came. */
    public record Order(String id) {}

    @InboxHandler(topic = "orders", type = "order", name = "plain")
    public void handle(Order order) {
        rows.write(
                dataSource(),
                "insert into effect (id, handler, event, app) values (?, 'plain', ?, ?)",
                UUID.randomUUID().toString(),
                order.id(),
                configured("twinbox.inbox.group"));
    }

    private static String dataSource() {
        return configured("twinbox.outbox.data-source");
    }

    /** Not {@code @ConfigProperty}: in an EAR, WildFly and Liberty look for it in the EAR's own files, not the WAR's. */
    private static String configured(String key) {
        return ConfigProvider.getConfig().getValue(key, String.class);
    }
}
