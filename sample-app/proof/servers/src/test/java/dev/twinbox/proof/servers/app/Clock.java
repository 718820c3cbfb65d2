package dev.twinbox.proof.servers.app;

import jakarta.annotation.Resource;
import jakarta.ejb.SessionContext;
import jakarta.ejb.Singleton;
import jakarta.ejb.Timeout;
import jakarta.ejb.Timer;
import jakarta.ejb.TimerConfig;
import jakarta.ejb.TimerService;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A transaction that an EJB timer begins. */
@Singleton
public class Clock {

    private record Task(Runnable work, Ending ending) {}

    private static final Map<String, Task> TASKS = new ConcurrentHashMap<>();

    @Resource
    private TimerService timers;

    @Resource
    private SessionContext context;

    public void soon(Runnable work, Ending ending) {
        String id = UUID.randomUUID().toString();
        TASKS.put(id, new Task(work, ending));
        timers.createSingleActionTimer(1, new TimerConfig(id, false));
    }

    @Timeout
    void run(Timer timer) {
        // A timer is repeated once when it was rolled back; that must find nothing.
        Task task = TASKS.remove((String) timer.getInfo());
        if (task != null) {
            task.work().run();
            if (task.ending() != Ending.COMMIT) {
                context.setRollbackOnly();
            }
        }
    }
}
