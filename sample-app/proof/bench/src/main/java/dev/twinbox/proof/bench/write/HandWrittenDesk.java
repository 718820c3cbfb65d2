package dev.twinbox.proof.bench.write;

import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.ejb.EJBException;
import jakarta.ejb.Stateless;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * The side with an INSERT written by hand, into the same table. It runs after the flush, so that both sides have the
 * same order of statements.
 */
@Stateless
public class HandWrittenDesk {

    private static final Jsonb JSON = JsonbBuilder.create();

    private static final String INSERT = """
            insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)
            values (?, 'bench-write', ?, 'order.stored', '/bench', ?, 'application/json', ?)""";

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @PersistenceContext(unitName = "bench")
    private EntityManager entityManager;

    @EJB
    private Orders orders;

    public void place(long buyerId) {
        OrderStored event = orders.place(buyerId);
        entityManager.flush();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            insert.setObject(1, UUID.randomUUID());
            insert.setString(2, Long.toString(event.buyerId()));
            insert.setObject(3, OffsetDateTime.now(ZoneOffset.UTC));
            insert.setBytes(4, JSON.toJson(event).getBytes(StandardCharsets.UTF_8));
            insert.executeUpdate();
        } catch (SQLException e) {
            throw new EJBException("cannot write the event of order " + event.orderId(), e);
        }
    }
}
