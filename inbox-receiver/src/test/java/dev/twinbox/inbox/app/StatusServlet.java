package dev.twinbox.inbox.app;

import dev.twinbox.Handled;
import dev.twinbox.inbox.HandledEvents;
import dev.twinbox.inbox.InboxStatus;
import dev.twinbox.inbox.ParkedEvents;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import jakarta.servlet.annotation.WebListener;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Shows {@link InboxStatus}, one {@code name=value} per line. */
@WebServlet("/status")
public class StatusServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @Inject
    private transient InboxStatus status;

    @Inject
    private transient ParkedEvents parked;

    @Inject
    private transient HandledEvents handled;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setContentType("text/plain;charset=UTF-8");
        var out = response.getWriter();
        if (request.getParameter("retry") != null) {
            out.println(parked.retry(Long.parseLong(request.getParameter("retry"))));
            return;
        }
        if (request.getParameter("discard") != null) {
            out.println(parked.discard(Long.parseLong(request.getParameter("discard"))));
            return;
        }
        if (request.getParameter("list") != null) {
            parked.list(0, 1000)
                    .forEach(event -> out.println(event.number() + " " + event.state() + " " + event.eventId() + " "
                            + parked.find(event.number()).isPresent()));
            return;
        }
        if (request.getParameter("forget") != null) {
            out.println(forget(request.getParameter("forget"), request.getParameter("id")));
            return;
        }
        if (request.getParameter("release") != null) {
            Script.release();
        }
        out.println("effects=" + status.effects());
        out.println("duplicates=" + status.duplicates());
        out.println("failures=" + status.failures());
        out.println("timedOut=" + status.timedOut());
        out.println("hung=" + status.hungThreads());
        out.println("skipped=" + status.skipped());
        out.println("dropped=" + status.dropped());
        out.println("running=" + Script.running());
        out.println("parked=" + status.parked());
        out.println("waiting=" + status.waiting());
        out.println("dead=" + status.dead());
        out.println("alreadyDone=" + status.alreadyDone());
        out.println("openBreakers=" + status.openBreakers());
        out.println("pausedTopics=" + status.pausedTopics().size());
        out.println("pausedHandlers=" + status.pausedHandlers().size());
        out.println("retriedLater=" + status.retriedLater());
        out.println("expired=" + status.expired());
        status.notes().forEach((subject, text) -> out.println("note " + subject + "=" + text));
        status.troubles().forEach((subject, text) -> out.println("trouble " + subject + "=" + text));
    }

    private String forget(String handler, String id) {
        try {
            return "forgot " + handled.forget(Handled.by(handler).withIds(List.of(id)));
        } catch (IllegalArgumentException e) {
            return String.valueOf(e.getMessage());
        }
    }

    /** Deregisters the drivers that the application brings, as every application must. */
    @WebListener
    public static class Housekeeping implements ServletContextListener {

        @Override
        public void contextDestroyed(ServletContextEvent event) {
            ClassLoader mine = Housekeeping.class.getClassLoader();
            noteLoader(mine);
            for (Driver driver : Collections.list(DriverManager.getDrivers())) {
                if (driver.getClass().getClassLoader() == mine) {
                    try {
                        DriverManager.deregisterDriver(driver);
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }

        @SuppressWarnings("unchecked")
        private static void noteLoader(ClassLoader loader) {
            ((List<WeakReference<ClassLoader>>) System.getProperties()
                            .computeIfAbsent("twinbox.test.loaders", key -> new CopyOnWriteArrayList<>()))
                    .add(new WeakReference<>(loader));
        }
    }
}
