package dev.twinbox.proof.bench.lock;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
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
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.ConfigProvider;
import redis.clients.jedis.JedisPooled;
import redis.clients.jedis.params.SetParams;

/** Does one thing many times and reports the time of each. Sets how long the handlers of {@link GuardDesk} take. */
@Stateless
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
@Path("lock")
public class LockResource {

    private static final int BUYERS = 1_000;
    private static final String HELD = "held";
    private static final Duration LEASE = Duration.ofMinutes(10);
    private static final String RELEASE =
            "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";
    private static final AtomicLong PAYMENTS = new AtomicLong(System.currentTimeMillis() * 1_000);

    @EJB
    private LockedDesk desk;

    @Inject
    private KeyLocks locks;

    /**
     * Measures.
     *
     * @param what see {@link #action}
     * @return nanoseconds of each, one per line
     */
    @POST
    @Path("time/{what}")
    public String time(@PathParam("what") String what, @QueryParam("rounds") int rounds) {
        try (KeyLock held = locks.tryLock(HELD, LEASE).orElseThrow()) {
            LongConsumer action = action(what, rounds);
            long[] nanos = new long[rounds];
            for (int i = 0; i < rounds; i++) {
                long start = System.nanoTime();
                action.accept(i % BUYERS);
                nanos[i] = System.nanoTime() - start;
            }
            return Arrays.stream(nanos).mapToObj(Long::toString).collect(Collectors.joining("\n"));
        }
    }

    private LongConsumer action(String what, int rounds) {
        return switch (what) {
            case "plain" -> desk::write;
            case "unique-key" -> buyer -> desk.writeWithUniqueKey(buyer, PAYMENTS.incrementAndGet());
            case "inbox-row" -> desk::writeWithInboxRow;
            case "queue" -> {
                desk.addTasks(rounds);
                yield desk::writeForTask;
            }
            case "single-flight" -> singleFlight();
            case "naive" -> naive();
            case "in-transaction" -> desk::writeLockedInTransaction;
            case "take" -> this::takeAndClose;
            case "fenced" -> this::takeFenceAndClose;
            case "refused" -> buyer -> refused();
            default -> throw new IllegalArgumentException("nothing is called " + what);
        };
    }

    /** Looks a thing up that nobody has looked up before. */
    private static LongConsumer singleFlight() {
        AsyncCache<Long, Long> cache = Caffeine.newBuilder().maximumSize(10_000).buildAsync();
        AtomicLong next = new AtomicLong();
        return buyer -> cache.get(next.incrementAndGet(), key -> key).join();
    }

    /** A lock in Redis alone, around the transaction. */
    private LongConsumer naive() {
        JedisPooled redis =
                new JedisPooled(ConfigProvider.getConfig().getValue("twinbox.locks.redis.url", String.class));
        String owner = UUID.randomUUID().toString();
        SetParams ifFree = SetParams.setParams().nx().px(LEASE.toMillis());
        return buyer -> {
            if (redis.set("naive " + buyer, owner, ifFree) == null) {
                throw new IllegalStateException("the key is held");
            }
            desk.write(buyer);
            redis.eval(RELEASE, List.of("naive " + buyer), List.of(owner));
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
