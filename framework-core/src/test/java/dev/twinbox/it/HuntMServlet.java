package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.transaction.UserTransaction;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** {@code GET lock?do=…}: what a hunter asks. */
@WebServlet("/lock")
public class HuntMServlet extends HttpServlet {

    private static final long serialVersionUID = 1;
    private static final Duration LONG = Duration.ofMinutes(10);

    @Inject
    KeyLocks locks;

    @Inject
    HuntMBean bean;

    @Resource
    UserTransaction transaction;

    @Resource(lookup = "java:comp/DefaultManagedExecutorService")
    ManagedExecutorService executor;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        long before = System.nanoTime();
        String answer;
        try {
            answer = answer(request.getParameter("do"), request.getParameter("key"));
        } catch (Exception | LinkageError e) {
            StringBuilder chain = new StringBuilder("failed:");
            for (Throwable each = e; each != null; each = each.getCause()) {
                chain.append(" <- ").append(each);
            }
            answer = chain.toString().replace('\n', ' ');
        }
        response.getWriter().println(answer + " (" + (System.nanoTime() - before) / 1_000_000 + " ms)");
    }

    private String answer(String action, String key) throws Exception {
        return switch (action) {
            case "try" -> locks.tryLock(key, LONG).isPresent() ? "granted" : "empty";
            case "after" -> {
                HuntMObserver.seen = "nothing";
                bean.end(key);
                yield HuntMObserver.seen;
            }
            case "scoped" -> bean.scoped(key) + ", then " + soonFree(key);
            case "timeout" -> timeout(key);
            case "saturated" -> saturated(key);
            case "leak" -> leak(key);
            case "rollback" -> bean.markedForRollback(key) + ", afterwards " + locks.tryLock(key, LONG).isPresent();
            case "two" -> two(key);
            case "heartbeat" -> heartbeat(key);
            case "extend" -> extend(key);
            case "interrupted" -> interrupted(key);
            case "fence-only" -> bean.fence(kept);
            case "keep" -> {
                kept = locks.tryLock(key, LONG).orElseThrow();
                yield "kept";
            }
            case "outlive" -> outlive(key);
            default -> "unknown";
        };
    }

    private static volatile KeyLock kept;

    private String soonFree(String key) throws InterruptedException {
        for (int i = 0; i < 40; i++) {
            if (locks.tryLock(key, LONG).isPresent()) {
                return "free after " + i * 25 + " ms";
            }
            Thread.sleep(25);
        }
        return "still locked";
    }

    /** A transaction whose time is over while its fence waits for the transaction of the next holder. */
    private String timeout(String key) throws Exception {
        KeyLock lock = locks.tryLock(key, LONG).orElseThrow();
        CountDownLatch fenced = new CountDownLatch(1);
        Future<String> holder = executor.submit(() -> bean.fenceAndHold(lock, fenced, 6_000));
        fenced.await(20, TimeUnit.SECONDS);
        transaction.setTransactionTimeout(2);
        String result;
        try {
            transaction.begin();
            try {
                lock.fence();
                result = "fenced, status " + transaction.getStatus();
            } catch (RuntimeException e) {
                result = e + ", status " + transaction.getStatus();
            }
            try {
                transaction.commit();
                result += ", COMMITTED";
            } catch (Exception e) {
                result += ", commit " + e;
            }
        } finally {
            transaction.setTransactionTimeout(0);
        }
        holder.get(60, TimeUnit.SECONDS);
        lock.close();
        return result + "; after close " + soonFree(key);
    }

    private String saturated(String key) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < 100; i++) {
            executor.submit(() -> end.await(60, TimeUnit.SECONDS));
        }
        try {
            bean.fenceAndClose(locks.tryLock(key, LONG).orElseThrow());
            return soonFree(key);
        } finally {
            end.countDown();
        }
    }

    private String leak(String key) throws Exception {
        int refused = 0;
        for (int i = 0; i < 300; i++) {
            KeyLock lock = locks.tryLock(key, Duration.ofMillis(1)).orElse(null);
            if (lock == null) {
                continue;
            }
            Thread.sleep(3);
            KeyLock next = locks.tryLock(key, Duration.ofMillis(1)).orElse(null);
            try {
                bean.fence(lock);
            } catch (RuntimeException e) {
                refused++;
            }
            lock.close();
            if (next != null) {
                bean.fence(next);
                next.close();
            }
        }
        return refused + " refused, then " + soonFree(key);
    }

    private String two(String key) throws Exception {
        KeyLock first = locks.tryLock(key, Duration.ofMillis(5)).orElseThrow();
        String result = bean.two(first, key + " first");
        Thread.sleep(20);
        KeyLock second = locks.tryLock(key, LONG).orElseThrow();
        try {
            result += ", stale: " + bean.two(first, key + " stale");
        } catch (Exception e) {
            result += ", stale: " + e.getClass().getSimpleName();
        }
        return result + ", second: " + bean.two(second, key + " second");
    }

    private String heartbeat(String key) throws Exception {
        int stuck = 0;
        for (int i = 0; i < 50; i++) {
            String mine = key + " " + i;
            KeyLock lock = locks.tryLock(mine, LONG).orElseThrow();
            Future<?> beat = executor.submit(() -> {
                while (lock.extend(LONG)) {
                    Thread.onSpinWait();
                }
            });
            Thread.sleep(1 + i % 20);
            lock.close();
            beat.get(30, TimeUnit.SECONDS);
            stuck += soonFree(mine).startsWith("still") ? 1 : 0;
        }
        return stuck + " of 50 stay locked";
    }

    private String extend(String key) throws Exception {
        int stuck = 0;
        for (int i = 0; i < 50; i++) {
            String mine = key + " " + i;
            try (KeyLock lock = locks.tryLock(mine, LONG).orElseThrow()) {
                bean.fenceAndExtend(lock);
            }
            stuck += soonFree(mine).startsWith("still") ? 1 : 0;
        }
        return stuck + " of 50 stay locked";
    }

    private String interrupted(String key) {
        Thread.currentThread().interrupt();
        try {
            Optional<KeyLock> lock = locks.tryLock(key, LONG);
            String seen = lock.isPresent() + ", flag " + Thread.currentThread().isInterrupted();
            lock.ifPresent(KeyLock::close);
            return seen + ", then " + locks.tryLock(key, LONG).isPresent();
        } catch (RuntimeException e) {
            return e + ", flag " + Thread.currentThread().isInterrupted();
        } finally {
            Thread.interrupted();
        }
    }

    /** A thread that goes on after the application is gone. */
    private String outlive(String key) {
        KeyLock lock = locks.tryLock(key, LONG).orElseThrow();
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(25_000);
                lock.close();
                System.out.println("HUNTM-OUTLIVE closed without a throw");
            } catch (Throwable e) {
                System.out.println("HUNTM-OUTLIVE threw " + e);
            }
        });
        thread.start();
        return "waits";
    }
}
