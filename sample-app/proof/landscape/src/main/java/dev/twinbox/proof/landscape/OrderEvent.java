package dev.twinbox.proof.landscape;

import jakarta.json.bind.Jsonb;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/**
 * An event as the ledger sees it, whichever book it was read from.
 *
 * @param id the event's id, the same in every book
 * @param number which order of the customer it tells of, from 1 without gaps
 */
public record OrderEvent(String id, long orderId, long customerId, long number) {

    /** Reads a record as it is on Kafka. */
    public static OrderEvent of(ConsumerRecord<byte[], byte[]> record, Jsonb jsonb) {
        Header id = record.headers().lastHeader("ce_id");
        if (id == null) {
            throw new IllegalStateException(
                    "offset " + record.offset() + " of partition " + record.partition() + " has no event id");
        }
        return parse(
                new String(id.value(), StandardCharsets.UTF_8),
                new String(record.value(), StandardCharsets.UTF_8),
                jsonb);
    }

    /** Reads the payload as it is in the outbox and on Kafka. */
    static OrderEvent parse(String id, String payload, Jsonb jsonb) {
        Payload order = jsonb.fromJson(payload, Payload.class);
        return new OrderEvent(id, order.orderId(), order.customerId(), order.number());
    }

    /** The fields of the event's JSON that the ledger compares. */
    public record Payload(long orderId, long customerId, long number) {}
}
