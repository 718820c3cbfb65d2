package dev.twinbox.proof.servers.app;

import dev.twinbox.proof.servers.app.Work.When;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.enterprise.concurrent.ManagedExecutorService;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.transaction.UserTransaction;
import java.io.IOException;

/** {@code GET run?caller=EJB&account=1&ref=…&when=AFTER_JPA&ending=COMMIT}: 200, or 500 with the exceptions. */
@WebServlet("/run")
public class RunServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @EJB
    private SessionBean session;

    @EJB
    private Clock clock;

    @Inject
    private TransactionalBean transactional;

    @Inject
    private Work work;

    @Resource
    private UserTransaction transaction;

    @Resource
    private ManagedExecutorService executor;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String ref = request.getParameter("ref");
        long account = Long.parseLong(request.getParameter("account"));
        When when = When.valueOf(request.getParameter("when"));
        Ending ending = Ending.valueOf(request.getParameter("ending"));
        Runnable task = () -> work.change(account, ref, when);
        try {
            run(request, task, ending);
        } catch (Exception e) {
            response.setStatus(500);
            for (Throwable t = e; t != null; t = t.getCause()) {
                response.getWriter().println(t);
            }
        }
    }

    private void run(HttpServletRequest request, Runnable task, Ending ending) throws Exception {
        switch (request.getParameter("caller")) {
            case "EJB" -> session.required(task, ending);
            case "REQUIRES_NEW" ->
                session.nested(
                        task,
                        ending,
                        () -> work.change(
                                Long.parseLong(request.getParameter("inner-account")),
                                request.getParameter("inner-ref"),
                                When.valueOf(request.getParameter("when"))),
                        Ending.valueOf(request.getParameter("inner-ending")));
            case "TRANSACTIONAL" -> transactional.required(task, ending);
            case "USER_TRANSACTION" -> inUserTransaction(task, ending);
            case "ASYNCHRONOUS" -> session.later(task, ending).get();
            case "TIMER" -> clock.soon(task, ending);
            case "BATCH" -> BatchJob.run(task, ending);
            case "MANAGED_THREAD" ->
                executor.submit(() -> session.required(task, ending)).get();
            default -> throw new IllegalArgumentException(request.getQueryString());
        }
    }

    private void inUserTransaction(Runnable task, Ending ending) throws Exception {
        transaction.begin();
        task.run();
        switch (ending) {
            case COMMIT -> transaction.commit();
            case ROLLBACK -> {
                transaction.setRollbackOnly();
                transaction.commit();
            }
            case THROW -> transaction.rollback();
        }
    }
}
