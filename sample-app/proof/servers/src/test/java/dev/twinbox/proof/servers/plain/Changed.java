package dev.twinbox.proof.servers.plain;

import dev.twinbox.EventType;

/** The event of a change. */
@EventType(value = "account.changed", topic = "accounts", key = "account")
public record Changed(long account, String ref) {}
