package dev.twinbox.relay.jdbc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the fields of one row in the bytes that PostgreSQL has sent, in its binary form. A value is copied only when it
 * is asked for. Not for several threads.
 */
final class BinaryRow {
    private static final VarHandle SHORT = MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private final int[] starts;
    private final int[] lengths; // -1: null
    private byte[] data = new byte[0];

    /** @param most fields of a row */
    BinaryRow(int most) {
        this.starts = new int[most];
        this.lengths = new int[most];
    }

    /**
     * Moves to the next row that {@code record_send} has written: the number of fields, and of each its type, its length
     * and its bytes.
     *
     * @param records with an array
     * @return the number of fields
     */
    int takeRecord(ByteBuffer records) {
        data = records.array();
        int at = records.arrayOffset() + records.position();
        int fields = (int) INT.get(data, at);
        at += Integer.BYTES;
        for (int field = 0; field < fields; field++) {
            at = take(field, at + Integer.BYTES);
        }
        records.position(at - records.arrayOffset());
        return fields;
    }

    /**
     * Moves to the row that {@code COPY} has written at this index: the number of fields, and of each its length and its
     * bytes.
     *
     * @return the index after the row; -1 if the end of the data is there
     */
    int takeTuple(byte[] bytes, int start) {
        data = bytes;
        int fields = (short) SHORT.get(bytes, start);
        if (fields < 0) {
            return -1;
        }
        int at = start + Short.BYTES;
        for (int field = 0; field < fields; field++) {
            at = take(field, at);
        }
        return at;
    }

    private int take(int field, int at) {
        int length = (int) INT.get(data, at);
        starts[field] = at + Integer.BYTES;
        lengths[field] = length;
        return at + Integer.BYTES + Math.max(0, length);
    }

    boolean isNull(int field) {
        return lengths[field] < 0;
    }

    /** Bytes of the value; 0 if it is null. */
    int length(int field) {
        return Math.max(0, lengths[field]);
    }

    /** A copy of the value. */
    byte @Nullable [] bytes(int field) {
        return isNull(field) ? null : Arrays.copyOfRange(data, starts[field], starts[field] + lengths[field]);
    }

    /** The object for the value, which must not be null. */
    <T> T repeated(int field, ValueCache<T> values) {
        return values.of(data, starts[field], starts[field] + lengths[field]);
    }

    /** A value of type bigint or timestamptz. */
    long number(int field) {
        return (long) LONG.get(data, requireLength(field, Long.BYTES));
    }

    /** A value of type double precision; 0 if it is null. */
    double real(int field) {
        return isNull(field) ? 0 : Double.longBitsToDouble(number(field));
    }

    /** One byte of a value that has so many. */
    byte byteOf(int field, int index, int length) {
        return data[requireLength(field, length) + index];
    }

    /** Where the value begins. */
    private int requireLength(int field, int length) {
        if (lengths[field] != length) {
            throw new IllegalStateException("field " + field + " of a row has " + lengths[field] + " bytes instead of "
                    + length + ": its column has another type than \"migrate\" gave it");
        }
        return starts[field];
    }

    /** Finds the elements of a value of type text[]. A null element is null. */
    @Nullable ByteBuffer buffer(int field) {
        return isNull(field) ? null : ByteBuffer.wrap(data, starts[field], lengths[field]);
    }
}
