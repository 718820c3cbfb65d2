package dev.twinbox.lock;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.TimeUnit;

/**
 * A socket with a limit for each answer as a whole, counted from what was written last. The limit of an ordinary socket
 * counts for each read, so an answer that comes byte by byte has none.
 */
final class LimitedSocket extends Socket {

    private final int limitMillis;

    /** Only its user's thread writes and reads. */
    private long writtenAt = System.nanoTime();

    LimitedSocket(int limitMillis) {
        this.limitMillis = limitMillis;
    }

    @Override
    public OutputStream getOutputStream() throws IOException {
        return new FilterOutputStream(super.getOutputStream()) {
            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                out.write(bytes, from, length);
                writtenAt = System.nanoTime();
            }
        };
    }

    @Override
    public InputStream getInputStream() throws IOException {
        InputStream in = super.getInputStream();
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
            }

            @Override
            public int read(byte[] bytes, int from, int length) throws IOException {
                limit();
                return in.read(bytes, from, length);
            }

            @Override
            public int available() throws IOException {
                return in.available();
            }

            @Override
            public void close() throws IOException {
                in.close();
            }
        };
    }

    /** Leaves the next read what is left. What has come already may be read also after the limit: the reader was late. */
    private void limit() throws IOException {
        long left = limitMillis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - writtenAt);
        setSoTimeout((int) Math.max(left, 1));
    }
}
