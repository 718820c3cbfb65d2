package dev.twinbox.relay.engine;

import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedState;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Five hundred topics are missing, and stay so. An event of one more topic was not sent when that topic was created. */
@Tag("proof")
@Timeout(120)
class Fault55ManyMissingTopicsIT {
    private static final int MISSING = 500;

    @Test
    void anEventIsSentWhenItsTopicIsCreatedHoweverManyOthersAreMissing() throws Exception {
        try (EngineRig rig = EngineRig.create()) {
            rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
            String last = "z-" + rig.topic;
            rig.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type)"
                    + " select gen_random_uuid(), t.topic, 'k', 't', '/s', now(), 'text/plain'"
                    + " from (select 'a-" + rig.topic + "-' || n as topic from generate_series(1, " + MISSING + ") n"
                    + " union all select '" + last + "') t");
            rig.start();
            await("all wait")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> rig.parkedIn(ParkedState.WAITING) == MISSING + 1);
            EngineRig.KAFKA.createTopic(last, 1);
            await("the event of the created topic")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> EngineRig.KAFKA.readAll(last).size() == 1);
        }
    }
}
