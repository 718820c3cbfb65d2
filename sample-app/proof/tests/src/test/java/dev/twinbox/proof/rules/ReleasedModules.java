package dev.twinbox.proof.rules;

import java.util.List;

/** The modules whose sources the rules are about. */
public final class ReleasedModules {
    /** Their folders. */
    public static final List<String> FOLDERS =
            List.of("framework-core", "framework-core/console", "outbox-relay", "inbox-receiver", "inbox-receiver/cli");

    private ReleasedModules() {}
}
