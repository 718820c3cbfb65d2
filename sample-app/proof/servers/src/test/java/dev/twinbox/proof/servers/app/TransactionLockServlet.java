package dev.twinbox.proof.servers.app;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
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
import java.util.ArrayList;
import java.util.List;

/**
 * {@code GET transaction-locks?caller=EJB&ref=…}: what belongs to a transaction and ends with it. Answers whether the
 * transaction got the lock, whether another one got it meanwhile, whether a later one got it, and whether a lease was
 * extended within a fenced transaction.
 */
@WebServlet("/transaction-locks")
public class TransactionLockServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @EJB
    private SessionBean session;

    @Inject
    private TransactionalBean transactional;

    @Inject
    private KeyLocks locks;

    @Resource
    private UserTransaction transaction;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String caller = request.getParameter("caller");
        String ref = request.getParameter("ref");
        List<Boolean> answers = new ArrayList<>();
        try {
            run(caller, () -> {
                answers.add(locks.tryLockInTransaction(ref));
                session.requiresNew(() -> answers.add(locks.tryLockInTransaction(ref)), Ending.COMMIT);
            });
            session.requiresNew(() -> answers.add(locks.tryLockInTransaction(ref)), Ending.COMMIT);
            KeyLock lock = locks.tryLock(ref, Duration.ofMinutes(1)).orElseThrow();
            run(caller, () -> {
                lock.fence();
                answers.add(lock.extend(Duration.ofMinutes(10)));
            });
            response.getWriter().print(answers);
        } catch (Exception e) {
            response.setStatus(500);
            for (Throwable t = e; t != null; t = t.getCause()) {
                response.getWriter().println(t);
            }
        }
    }

    private void run(String caller, Runnable task) throws Exception {
        switch (caller) {
            case "EJB" -> session.required(task, Ending.COMMIT);
            case "TRANSACTIONAL" -> transactional.required(task, Ending.COMMIT);
            case "USER_TRANSACTION" -> {
                transaction.begin();
                task.run();
                transaction.commit();
            }
            default -> throw new IllegalArgumentException(caller);
        }
    }
}
