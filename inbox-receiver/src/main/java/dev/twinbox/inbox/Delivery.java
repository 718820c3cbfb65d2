package dev.twinbox.inbox;

/** An event for one of its handlers: this is what is claimed, handled, parked and counted. */
record Delivery(Handler handler, ReceivedEvent event) {}
