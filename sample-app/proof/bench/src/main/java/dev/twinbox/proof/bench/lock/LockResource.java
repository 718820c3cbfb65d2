package dev.twinbox.proof.bench.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.inject.Inject;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/** Does one thing many times and reports the time of each. Sets how long the handlers of {@link GuardDesk} take. */
@Stateless
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
@Path("lock")
public class LockResource {

    private static final int BUYERS = 1_000;
    private static final String HELD = "held";
    private static final Duration LEASE = Duration.ofMinutes(10);

    @EJB
    private LockedDesk desk;

    @Inject
    private KeyLocks locks;

    /**
     * Measures.
     *
     * @param what {@code plain}, {@code in-transaction}, {@code take}, {@code fenced} or {@code refused}
     * @return nanoseconds of each, one per line
     */
    @POST
    @Path("time/{what}")
    public String time(@PathParam("what") String what, @QueryParam("rounds") int rounds) {
        try (KeyLock held = locks.tryLock(HELD, LEASE).orElseThrow()) {
            LongConsumer action = action(what);
            long[] nanos = new long[rounds];
            for (int i = 0; i < rounds; i++) {
                long start = System.nanoTime();
                action.accept(i % BUYERS);
                nanos[i] = System.nanoTime() - start;
            }
            return Arrays.stream(nanos).mapToObj(Long::toString).collect(Collectors.joining("\n"));
        }
    }

    private LongConsumer action(String what) {
        return switch (what) {
            case "plain" -> desk::write;
            case "in-transaction" -> desk::writeLockedInTransaction;
            case "take" -> this::takeAndClose;
            case "fenced" -> this::takeFenceAndClose;
            case "refused" -> buyer -> refused();
            default -> throw new IllegalArgumentException("nothing is called " + what);
        };
    }

    private KeyLock take(long buyer) {
        return locks.tryLock("buyer " + buyer, LEASE).orElseThrow();
    }

    private void takeAndClose(long buyer) {
        take(buyer).close();
    }

    private void takeFenceAndClose(long buyer) {
        try (KeyLock lock = take(buyer)) {
            desk.writeFenced(buyer, lock);
        }
    }

    private void refused() {
        if (locks.tryLock(HELD, LEASE).isPresent()) {
            throw new IllegalStateException("the key is held");
        }
    }

    /** Sets how long the handlers take from now on. */
    @POST
    @Path("handlers")
    public void handlers(@QueryParam("millis") long millis) {
        GuardDesk.take(Duration.ofMillis(millis));
    }
}
