package dev.twinbox.relay.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyOut;

/**
 * The rows of a running {@code COPY … TO STDOUT (FORMAT binary)}, one after the other. PostgreSQL sends each in a message
 * of its own; the first message also has the header.
 *
 * <p>While it runs, its connection can do nothing else. Closing it reads the rest of the rows and drops them. Asking
 * PostgreSQL to stop would need a second connection, and the statement has a limit of rows.
 */
final class CopiedRows implements AutoCloseable {
    private static final byte[] SIGNATURE = {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0};

    /** Signature, flags, and the length of an extension that no version of PostgreSQL has. */
    private static final int HEADER = SIGNATURE.length + 2 * Integer.BYTES;

    private final CopyOut copy;
    private byte[] message = new byte[0];
    private int start;
    private boolean begun;

    private CopiedRows(CopyOut copy) {
        this.copy = copy;
    }

    /** Starts a statement. Nothing is replaced in it, not even a question mark. */
    static CopiedRows of(Connection connection, String sql) throws SQLException {
        return new CopiedRows(connection.unwrap(PGConnection.class).getCopyAPI().copyOut(sql));
    }

    /** Moves to the next row; false if there is none. */
    boolean next() throws SQLException {
        byte[] next = read();
        if (next == null || next[start] < 0) { // A negative number of fields is the end of the data.
            close();
            return false;
        }
        message = next;
        return true;
    }

    private byte @Nullable [] read() throws SQLException {
        byte[] next = copy.isActive() ? copy.readFromCopy() : null;
        start = 0;
        if (next == null || begun) {
            return next;
        }
        begun = true;
        if (next.length < HEADER || !Arrays.equals(next, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length)) {
            throw new IllegalStateException("the answer to COPY does not begin as PostgreSQL's binary format does: "
                    + "connect the relay to PostgreSQL itself");
        }
        if (next.length == HEADER) {
            return read();
        }
        start = HEADER;
        return next;
    }

    /** Holds the present row, from {@link #start} to its end. */
    byte[] message() {
        return message;
    }

    int start() {
        return start;
    }

    @Override
    public void close() throws SQLException {
        while (copy.isActive()) {
            copy.readFromCopy();
        }
    }
}
