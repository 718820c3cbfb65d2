package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attacks on relays as processes: odd locales, stops that outlast the lease. */
@Tag("proof")
class HuntProcessesIT {

    @Test
    void attack33OddLocalesAndTimeZones() throws Exception {
        for (String[] options : new String[][] {
            {"-Duser.language=tr", "-Duser.country=TR", "-Duser.timezone=Asia/Kolkata"},
            {"-Duser.language=ar", "-Duser.country=EG", "-Duser.extensions=nu-arab", "-Duser.timezone=Africa/Monrovia"},
            {"-Duser.language=th", "-Duser.country=TH", "-Duser.extensions=ca-buddhist-nu-thai", "-Dfile.encoding=US-ASCII"}
        }) {
            try (RelayRig rig = RelayRig.create();
                    RelayProcess relay = RelayProcess.builder(Path.of("target", "twinbox-relay.jar"))
                            .config(rig.config())
                            .jvmOptions(options)
                            .build()) {
                relay.start().awaitReady();
                rig.execute("insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + rig.topic() + "-none', 'ıİé😀', 't.x', '/test', now(),"
                        + " 'text/plain', 'x'");
                rig.insertAndCommit(200);
                rig.execute("insert into outbox_scheduled"
                        + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " values (clock_timestamp() + interval '2 s', gen_random_uuid(), '" + rig.topic()
                        + "', 'k', 't.x', '/test', clock_timestamp(), 'text/plain', 's')");
                rig.awaitRecords(201);
                await("parked").until(() -> rig.count("select count(*) from outbox_parked where state = 'waiting'") == 1);
                assertThat(rig.records()).allSatisfy(record -> assertThat(OffsetDateTime.parse(new String(
                                record.headers().lastHeader("ce_time").value(), StandardCharsets.US_ASCII)))
                        .isAfter(OffsetDateTime.now().minus(Duration.ofHours(1)))
                        .isBefore(OffsetDateTime.now().plus(Duration.ofHours(1))));
                RelayRig.KAFKA.createTopic(rig.topic() + "-none", 1);
                await("freed").until(() -> rig.count("select count(*) from outbox_parked") == 0);
                assertThat(relay.terminate()).as(relay.log()).isZero();
            }
        }
    }

    @Test
    void attack34StopsThatOutlastTheLeaseWithASlowBrokerAndParkedKeys() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> config = Map.of("twinbox.relay.lease", "PT2S", "twinbox.relay.page.rows", "100");
            List<RelayProcess> relays = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                relays.add(rig.relay(config).start());
            }
            try (BusinessLoad load = BusinessLoad.start(rig, 3)) {
                for (int round = 0; round < 6; round++) {
                    RelayProcess owner = rig.owner(relays);
                    long epoch = rig.epoch();
                    RelayRig.KAFKA.pause();
                    Thread.sleep(300); // Records wait in the owner's producer.
                    owner.pause();
                    RelayRig.KAFKA.resume();
                    await("a new owner").until(() -> rig.epoch() > epoch);
                    Thread.sleep(700);
                    owner.resume();
                    Thread.sleep(700);
                }
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            for (RelayProcess relay : relays) {
                assertThat(relay.terminate()).as(relay.log()).isZero();
            }
        }
    }
}
