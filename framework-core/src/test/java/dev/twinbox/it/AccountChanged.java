package dev.twinbox.it;

import dev.twinbox.EventType;

@EventType(value = "account.changed", topic = "accounts", key = "accountId")
public record AccountChanged(long accountId, String what) {}
