package dev.twinbox.proof.servers.app;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.proof.servers.app.Work.When;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.transaction.UserTransaction;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code GET locks?caller=EJB&account=1&ref=…}: two holders of one key, of which the second is granted it after the
 * first one's lease. The answer says in one line what became of it.
 */
@WebServlet("/locks")
public class LockServlet extends HttpServlet {

    private static final long serialVersionUID = 1;
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);

    @EJB
    private SessionBean session;

    @Inject
    private TransactionalBean transactional;

    @Inject
    private Work work;

    @Inject
    private KeyLocks locks;

    @Resource
    private UserTransaction transaction;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String caller = request.getParameter("caller");
        String ref = request.getParameter("ref");
        long account = Long.parseLong(request.getParameter("account"));
        try {
            KeyLock late = locks.tryLock(ref, Duration.ofMillis(50)).orElseThrow();
            KeyLock next = awaitGrant(ref);
            boolean isLateRefused = isRefused(caller, () -> write(late, account, "late " + ref));
            run(
                    caller,
                    () -> {
                        write(next, account, ref);
                        next.close();
                    },
                    Ending.COMMIT);
            KeyLock third = awaitGrant(ref);
            run(
                    caller,
                    () -> {
                        write(third, account, "rolled back " + ref);
                        third.close();
                    },
                    Ending.ROLLBACK);
            awaitGrant(ref).close();
            response.getWriter().print(isLateRefused ? "late refused" : "late written");
        } catch (Exception e) {
            response.setStatus(500);
            for (Throwable t = e; t != null; t = t.getCause()) {
                response.getWriter().println(t);
            }
        }
    }

    private void write(KeyLock lock, long account, String ref) {
        lock.fence();
        work.change(account, ref, When.PLAIN_JDBC);
    }

    private KeyLock awaitGrant(String key) {
        long end = System.nanoTime() + WAIT_NANOS;
        Optional<KeyLock> granted = locks.tryLock(key, LONG);
        while (granted.isEmpty() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
            granted = locks.tryLock(key, LONG);
        }
        return granted.orElseThrow(() -> new IllegalStateException("the key is never granted"));
    }

    private boolean isRefused(String caller, Runnable task) {
        try {
            run(caller, task, Ending.COMMIT);
            return false;
        } catch (Exception e) {
            return true;
        }
    }

    private void run(String caller, Runnable task, Ending ending) throws Exception {
        switch (caller) {
            case "EJB" -> session.required(task, ending);
            case "TRANSACTIONAL" -> transactional.required(task, ending);
            case "USER_TRANSACTION" -> inUserTransaction(task, ending);
            default -> throw new IllegalArgumentException(caller);
        }
    }

    private void inUserTransaction(Runnable task, Ending ending) throws Exception {
        transaction.begin();
        try {
            task.run();
        } catch (RuntimeException e) {
            transaction.rollback();
            throw e;
        }
        if (ending == Ending.ROLLBACK) {
            transaction.rollback();
        } else {
            transaction.commit();
        }
    }
}
