package dev.twinbox.proof.bench.receive;

import dev.twinbox.CloudEventHeaders;
import jakarta.annotation.Resource;
import jakarta.ejb.EJBException;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** One batch in one JTA transaction: claims in the inbox, then the effects of the claimed events as one JDBC batch. */
@Stateless
public class HandWrittenBatch {

    private static final Jsonb JSON = JsonbBuilder.create();

    private static final String CLAIM = """
            insert into inbox_event (consumer_group, handler, event_id)
            select 'bench-by-hand', 'by hand', claimed from unnest(?::text[]) claimed
            on conflict do nothing returning event_id""";

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @TransactionAttribute(TransactionAttributeType.REQUIRES_NEW)
    public void apply(List<ConsumerRecord<String, byte[]>> records) {
        try (Connection connection = dataSource.getConnection()) {
            Set<String> claimed = claim(connection, records);
            try (PreparedStatement effects = connection.prepareStatement(EffectRow.INSERT)) {
                for (ConsumerRecord<String, byte[]> received : records) {
                    if (claimed.remove(id(received))) { // once, even if the batch has it twice
                        OrderPlaced order =
                                JSON.fromJson(new ByteArrayInputStream(received.value()), OrderPlaced.class);
                        EffectRow.bind(effects, order);
                        effects.addBatch();
                    }
                }
                effects.executeBatch();
            }
        } catch (SQLException e) {
            throw new EJBException("a batch of " + records.size() + " failed", e);
        }
    }

    private static Set<String> claim(Connection connection, List<ConsumerRecord<String, byte[]>> records)
            throws SQLException {
        List<String> ids = new ArrayList<>(records.size());
        for (ConsumerRecord<String, byte[]> received : records) {
            ids.add(id(received));
        }
        Set<String> claimed = new HashSet<>(2 * ids.size());
        try (PreparedStatement claim = connection.prepareStatement(CLAIM)) {
            claim.setArray(1, connection.createArrayOf("text", ids.toArray()));
            try (ResultSet rows = claim.executeQuery()) {
                while (rows.next()) {
                    claimed.add(rows.getString(1));
                }
            }
        }
        return claimed;
    }

    private static String id(ConsumerRecord<String, byte[]> received) {
        return new String(received.headers().lastHeader(CloudEventHeaders.ID).value(), StandardCharsets.UTF_8);
    }
}
