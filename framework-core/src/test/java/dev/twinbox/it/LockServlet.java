package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.StaleLockException;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** {@code GET lock?do=take&key=a&lease=PT1M}: the answer is one line. Locks are kept by their token. */
@WebServlet("/lock")
public class LockServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    private static final Map<String, KeyLock> TAKEN = new ConcurrentHashMap<>();

    @Inject
    KeyLocks locks;

    @Inject
    LockedEffects effects;

    @Inject
    LockedWork work;

    @Inject
    UnusualTransactions unusual;

    @Resource
    ManagedExecutorService executor;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String answer;
        try {
            answer = answer(request);
        } catch (StaleLockException e) {
            answer = "stale: " + e.getMessage();
        } catch (Exception e) {
            answer = chain(e);
        }
        response.getWriter().println(answer);
    }

    private String answer(HttpServletRequest request) throws Exception {
        String key = request.getParameter("key");
        String token = request.getParameter("token");
        return switch (request.getParameter("do")) {
            case "take" -> take(key, Duration.parse(request.getParameter("lease")));
            case "write" -> done(() -> effects.write(key, TAKEN.get(token)));
            case "write-cdi" -> done(() -> work.write(key, TAKEN.get(token)));
            case "write-in-spite" -> done(() -> work.writeInSpiteOfTheRefusal(key, TAKEN.get(token)));
            case "write-extend" -> done(() -> effects.writeAndExtend(key, TAKEN.get(token)));
            case "write-close" -> done(() -> effects.writeAndClose(key, TAKEN.get(token)));
            case "write-close-rollback" -> done(() -> effects.writeCloseAndRollBack(key, TAKEN.get(token)));
            case "take-rollback" -> kept(effects.takeAndRollBack(key));
            case "close" -> done(() -> TAKEN.get(token).close());
            case "extend" -> Boolean.toString(TAKEN.get(token).extend(Duration.parse(request.getParameter("lease"))));
            case "held" -> Boolean.toString(TAKEN.get(token).isHeld());
            case "in-transaction" -> effects.lockInTransaction(key, work);
            case "in-no-transaction" -> Boolean.toString(locks.tryLockInTransaction(key));
            case "fence-in-no-transaction" -> done(() -> TAKEN.get(token).fence());
            case "fence-after-begin" -> unusual.afterBegin(() -> fence(key, TAKEN.get(token)));
            case "fence-before-completion" -> unusual.beforeCompletion(() -> fence(key, TAKEN.get(token)));
            case "lock-after-begin" -> unusual.afterBegin(() -> lockInTransaction(key));
            case "lock-before-completion" -> unusual.beforeCompletion(() -> lockInTransaction(key));
            case "jedis" -> Boolean.toString(isLoaded("redis.clients.jedis.UnifiedJedis"));
            case "load" -> load(request);
            default -> "unknown";
        };
    }

    private String take(String key, Duration lease) {
        Optional<KeyLock> lock = locks.tryLock(key, lease);
        return lock.isEmpty() ? "empty" : kept(lock.get());
    }

    /** Whether the key is granted to another while this transaction has fenced it. */
    private String fence(String key, KeyLock lock) {
        lock.fence();
        return "granted meanwhile: " + locks.tryLock(key, Duration.ofMinutes(1)).isPresent();
    }

    private String lockInTransaction(String key) {
        return locks.tryLockInTransaction(key) + " " + work.isFreeInTransaction(key);
    }

    private static String kept(KeyLock lock) {
        TAKEN.put(Long.toString(lock.token()), lock);
        return Long.toString(lock.token());
    }

    /** What has no answer of its own. */
    interface Action {
        void run() throws Exception;
    }

    private static String done(Action action) throws Exception {
        action.run();
        return "done";
    }

    private static boolean isLoaded(String name) {
        try {
            Class.forName(name, false, LockServlet.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }

    /** Answers how many counts committed, and how many locks were lost before. */
    private String load(HttpServletRequest request) throws Exception {
        String naivePort = request.getParameter("naive");
        LockLoad load = new LockLoad(executor, Duration.parse(request.getParameter("time")));
        return naivePort == null
                ? load.run("key ", () -> this::countFenced)
                : load.run("naive ", () -> NaiveCounting.with(Integer.parseInt(naivePort), effects));
    }

    private LockLoad.Outcome countFenced(String key, long leaseMillis, Runnable pause, long workMillis)
            throws Exception {
        Optional<KeyLock> lock = locks.tryLock(key, Duration.ofMillis(leaseMillis));
        if (lock.isEmpty()) {
            return LockLoad.Outcome.BUSY;
        }
        try (KeyLock held = lock.get()) {
            pause.run();
            effects.count(key, held, workMillis);
            return LockLoad.Outcome.COUNTED;
        } catch (StaleLockException e) {
            return LockLoad.Outcome.STALE;
        }
    }

    private static String chain(Throwable thrown) {
        StringBuilder chain = new StringBuilder("failed:");
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (each instanceof StaleLockException) {
                return "stale: " + each.getMessage();
            }
            chain.append(' ').append(each);
        }
        return chain.toString().replace('\n', ' ');
    }
}
