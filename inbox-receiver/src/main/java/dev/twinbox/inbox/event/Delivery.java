package dev.twinbox.inbox.event;

/** An event for one of its handlers. It is what is claimed, handled, parked and counted. */
public record Delivery(Handler handler, ReceivedEvent event) {}
