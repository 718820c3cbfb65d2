package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.app.LockedHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The container calls a {@code @Singleton} EJB for one thread at a time. One worker waited for this lock with row locks in
 * its hands, the worker that had it waited for the rows: no event was handled any more, and nobody was told.
 */
class Fault09SingletonLockIT {

    private static final String APP = "locked";

    private static String database;

    @BeforeAll
    static void create() {
        database = new Database(APP).name();
        Servers.kafka().createTopic(APP, 1);
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
    }

    @Test
    void theContainersWriteLockIsRefusedUnlessOnlyOneWorkerCanBeAtIt() {
        String log = Servers.payara().deploy(APP, app().build());

        assertThat(Servers.payara().status("/" + APP + "/status")).as(log).isEqualTo(404);
        assertThat(log)
                .contains("The inbox cannot work in this application: 1 problem")
                .contains("LockedHandler.onOrder(Order): its class is a @Singleton with the container's write lock")
                .contains("twinbox.inbox.workers=1");

        MainApp.deploy(app().with("twinbox.inbox.workers", "1"));
    }

    private static TestApp app() {
        return new TestApp(APP, database).with(LockedHandler.class, LockedHandler.OwnLock.class);
    }
}
