package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.ContractHandlers;
import dev.twinbox.inbox.app.FailingHandlers;
import dev.twinbox.inbox.app.ShapeHandlers;
import java.time.Duration;

/** The application that most tests share. It is deployed once; each test has its own topics or event ids. */
final class MainApp {

    static final String GROUP = "main";
    static final Duration LIMIT = Duration.ofSeconds(90);

    private MainApp() {}

    /** A class of its own: a thread that waits for its initialisation must not need it. */
    private static final class Deployed {
        static final Database DATABASE = new Database("main");
        static final Topics TOPICS = new Topics();

        static {
            for (String topic : new String[] {"ejb", "cdi", "transacted", "shapes", "contracts", "two"}) {
                Servers.kafka().createTopic(topic, 2);
            }
            deploy(new TestApp(GROUP, DATABASE.name())
                    .with(FailingHandlers.class, FailingHandlers.Ejb.class)
                    .with(FailingHandlers.Cdi.class, FailingHandlers.Transacted.class)
                    .with(ShapeHandlers.class)
                    .with(ShapeHandlers.class.getDeclaredClasses())
                    .with(ContractHandlers.class));
        }
    }

    /** Deploys the application and waits until it polls. */
    static void deploy(TestApp app) {
        String log = Servers.payara().deploy(app.name(), app.build());
        assertThat(Servers.payara().status("/" + app.name() + "/status"))
                .as(log)
                .isEqualTo(200);
        awaitNoTrouble(app.name());
    }

    static void awaitNoTrouble(String app) {
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(Servers.payara().get("/" + app + "/status")).doesNotContain("trouble"));
    }

    static Database database() {
        return Deployed.DATABASE;
    }

    static Topics topics() {
        return Deployed.TOPICS;
    }

    /** A value of the status page. */
    static long status(String app, String name) {
        return Servers.payara()
                .get("/" + app + "/status")
                .lines()
                .filter(line -> line.startsWith(name + "="))
                .mapToLong(line -> Long.parseLong(line.substring(name.length() + 1)))
                .findFirst()
                .orElseThrow();
    }

    static void awaitLagZero(String group, String topic) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics().lag(group, topic)).isZero());
    }
}
