package dev.twinbox.proof.servers.app;

import dev.twinbox.EventType;

/** The event of a change. */
@EventType(value = "account.changed", topic = "accounts", key = "account")
public record AccountChanged(long account, String ref) {}
