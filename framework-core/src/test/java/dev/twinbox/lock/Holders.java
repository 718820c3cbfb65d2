package dev.twinbox.lock;

import static org.awaitility.Awaitility.await;

import dev.twinbox.lock.HolderMain.Ways;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The processes of one test, which want one key after the other. */
final class Holders implements AutoCloseable {

    /** A lease that does not end within a test, in milliseconds. */
    static final int LONG = 600_000;

    /** How long Redis may take to answer where a busy machine must not decide, in milliseconds. */
    static final int PATIENT = 5_000;

    private final EffectDatabase database;
    private final int redisPort;
    private final List<Holder> started = new ArrayList<>();

    /** @param redisPort where they find Redis */
    Holders(EffectDatabase database, int redisPort) {
        this.database = database;
        this.redisPort = redisPort;
    }

    Holder start(String name, Ways way) {
        return start(name, way, Duration.ZERO);
    }

    /** @param clock of the process, ahead of this machine's */
    Holder start(String name, Ways way, Duration clock) {
        return add(new Holder(name, way, database, redisPort, PATIENT, clock));
    }

    /** Redis is found at another port. */
    Holder start(String name, Ways way, int port, int limitMillis) {
        return add(new Holder(name, way, database, port, limitMillis, Duration.ZERO));
    }

    private Holder add(Holder holder) {
        started.add(holder);
        return holder;
    }

    /** Lets the holder ask until it gets the key. */
    static void awaitGrant(Holder holder, String key) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> holder.ask("take " + key + ' ' + LONG).equals("granted"));
    }

    @Override
    public void close() {
        started.forEach(Holder::close);
    }
}
