package dev.twinbox.relay.jdbc;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Turns a column's bytes into an object, and equal bytes into the same object. Topic, type and source rarely change
 * from one row to the next. Not for several threads.
 */
final class ValueCache<T> {
    private static final int LIMIT = 1_000;

    private final Function<byte[], T> create;
    private final Map<ByteBuffer, T> known = new HashMap<>();
    private byte @Nullable [] lastBytes;
    private @Nullable T last;

    ValueCache(Function<byte[], T> create) {
        this.create = create;
    }

    T of(byte[] bytes) {
        T same = last;
        if (same != null && Arrays.equals(bytes, lastBytes)) {
            return same;
        }
        if (known.size() >= LIMIT) {
            known.clear(); // The values of this column do not repeat.
        }
        T value = known.computeIfAbsent(ByteBuffer.wrap(bytes), key -> create.apply(bytes));
        lastBytes = bytes;
        last = value;
        return value;
    }
}
