package dev.twinbox.console.search;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** When an application made an event, by its id. */
public final class IdTime {
    private static final int TIME_ORDERED = 7;
    private static final int BITS_AFTER_TIME = 16;

    /** Clocks of applications and of brokers may differ by so much. */
    private static final Duration CLOCKS = Duration.ofSeconds(10);

    private IdTime() {}

    /** Null if the id does not say it, as that of another library. */
    public static @Nullable Instant of(@Nullable UUID id) {
        return id == null || id.version() != TIME_ORDERED
                ? null
                : Instant.ofEpochMilli(id.getMostSignificantBits() >>> BITS_AFTER_TIME);
    }

    /** From when on a record of the event can be on a topic. Null: not known. */
    public static @Nullable Instant sentAfter(@Nullable Instant madeAt) {
        return madeAt == null ? null : madeAt.minus(CLOCKS);
    }
}
