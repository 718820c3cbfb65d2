package dev.twinbox.proof.ledger;

import jakarta.json.bind.Jsonb;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * An order's event, as it is in the outbox, on Kafka and in a shipment.
 *
 * @param id the event's id, the same in all three places
 * @param number counts the customer's orders from 1 without gaps
 */
public record OrderEvent(String id, long orderId, long customerId, long number) {

    /** Reads a record as it is on Kafka. */
    public static OrderEvent of(ConsumerRecord<byte[], byte[]> record, Jsonb jsonb) {
        Header id = record.headers().lastHeader("ce_id");
        if (id == null) {
            throw new IllegalStateException(
                    "offset " + record.offset() + " of partition " + record.partition() + " has no event id");
        }
        Payload order = jsonb.fromJson(new String(record.value(), StandardCharsets.UTF_8), Payload.class);
        return new OrderEvent(
                new String(id.value(), StandardCharsets.UTF_8), order.orderId(), order.customerId(), order.number());
    }

    /** The fields of the event's JSON that the ledger compares. */
    public record Payload(long orderId, long customerId, long number) {}
}
