package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxConfigReader;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.engine.TopicRetention.ParkingDecision;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Reads how long topics keep their records, from a broker that does not allow it for all of them. */
@Tag("proof")
class TopicRetentionIT {

    private static final Duration WEEK = Duration.ofDays(7);

    @Test
    void whatTheTopicsKeepIsComparedAsFarAsTheBrokerTells() throws Exception {
        KafkaBroker broker = KafkaBroker.create()
                .withSetting("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                .withSetting("allow.everyone.if.no.acl.found", "true")
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .start();
        try {
            broker.createTopic("week", 1, Map.of("segment.ms", "1000"));
            broker.createTopic("for-ever", 1, Map.of("retention.ms", "-1"));
            broker.createTopic("both", 1, Map.of("cleanup.policy", "compact,delete", "segment.ms", "1000"));
            broker.createTopic("secret", 1);
            allowAllButDescribingTheConfiguration(broker, "secret");

            assertThat(compare(broker, WEEK.plusSeconds(1), "week", "both", "not-there-yet"))
                    .isEqualTo(new ParkingDecision(ParkingDecision.Kind.FITS, List.of()));
            ParkingDecision tooShort = compare(broker, WEEK, "week", "both", "for-ever", "secret");
            assertThat(tooShort.kind()).isEqualTo(ParkingDecision.Kind.TOO_SHORT);
            assertThat(tooShort.allowsDeletion()).isFalse();
            assertThat(tooShort.problems())
                    .hasSize(3)
                    .anyMatch(problem ->
                            problem.startsWith("Topic for-ever may keep a record for ever (retention.ms=-1)"));
            ParkingDecision notTold = compare(broker, WEEK.plusSeconds(1), "week", "secret");
            assertThat(notTold.kind()).isEqualTo(ParkingDecision.Kind.NOT_ALLOWED);
            assertThat(notTold.allowsDeletion()).isTrue();
            assertThat(notTold.text())
                    .contains("cannot be compared", "DescribeConfigs", "secret (")
                    .doesNotContain("week (");
        } finally {
            broker.kill();
        }
        ParkingDecision unknown = compare(broker, WEEK, "week");
        assertThat(unknown.kind()).isEqualTo(ParkingDecision.Kind.UNKNOWN);
        assertThat(unknown.allowsDeletion()).isFalse();
    }

    /** Once a topic has a rule, everything without a rule is forbidden. */
    private static void allowAllButDescribingTheConfiguration(KafkaBroker broker, String topic) throws Exception {
        ResourcePattern pattern = new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL);
        List<AclBinding> rules = new ArrayList<>();
        for (AclOperation operation : List.of(AclOperation.READ, AclOperation.DESCRIBE)) {
            rules.add(new AclBinding(
                    pattern, new AccessControlEntry("User:ANONYMOUS", "*", operation, AclPermissionType.ALLOW)));
        }
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.createAcls(rules).all().get();
            ConfigResource secret = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            await("the broker goes by them")
                    .until(() -> admin.describeConfigs(List.of(secret))
                            .all()
                            .toCompletionStage()
                            .handle((told, refusal) -> refusal != null)
                            .toCompletableFuture()
                            .join());
        }
    }

    private static ParkingDecision compare(KafkaBroker broker, Duration keep, String... topics) {
        InboxConfig config = InboxConfigReader.read(
                new SmallRyeConfigBuilder()
                        .withSources(new PropertiesConfigSource(
                                Map.of(
                                        InboxSettings.GROUP.key(),
                                        "g",
                                        InboxSettings.DATA_SOURCE.key(),
                                        "java:app/jdbc/x",
                                        "twinbox.inbox.kafka.bootstrap.servers",
                                        broker.bootstrapServers()),
                                "values",
                                100))
                        .build(),
                Set.of(topics));
        return new TopicRetention(config, keep, Set.of(topics)).compare();
    }
}
