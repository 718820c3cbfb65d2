package dev.twinbox.inbox.jdbc;

import dev.twinbox.DeliveryContract;

/**
 * A handler that an instance of the application has.
 *
 * @param topic Kafka topic
 * @param type a name of the type that it takes, current or former
 * @param handler its name
 * @param delivery its delivery contract
 */
public record AnnouncedHandler(String topic, String type, String handler, DeliveryContract delivery) {}
