package dev.twinbox.proof.bench;

import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Events that are functions of their number, from 0 on. {@link TopicCheck} compares a topic with them. */
interface ExpectedEvents {

    int events();

    /** How many different keys there are. */
    int keys();

    /** 0 to {@code keys() - 1}. */
    int customer(int number);

    /** The number of the event with this id; -1 if it is none of these events. */
    int numberOf(UUID id);

    /** Whether a record from Kafka is that event. */
    boolean is(int number, ConsumerRecord<byte[], byte[]> found);
}
