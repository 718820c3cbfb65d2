package dev.twinbox.inbox.engine;

import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.Topics;
import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxConfigReader;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.kafka.MetadataWatch;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import dev.twinbox.inbox.kafka.RememberedOffsets;
import dev.twinbox.inbox.kafka.TopicLookup;
import dev.twinbox.inbox.pause.Pauses;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.assertj.core.api.Assertions;

/**
 * A member of a group on a real broker and a real database, whose poll thread is the test. Between two steps of the test
 * it fetches nothing.
 */
final class KafkaMember implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The values of the records in the order in which they were handled. */
    final List<String> handled = new ArrayList<>();

    final ReceiverStatus status = new ReceiverStatus();

    /** What is paused in its group, once it is refreshed. */
    final Pauses pauses;

    private final Queue<Runnable> work = new ConcurrentLinkedQueue<>();
    private final ExecutorService background = Executors.newSingleThreadExecutor();
    private final TopicLookup lookup;
    private final GroupMember member;
    private boolean hasLeft;

    KafkaMember(Database database, String group, String topic, OffsetPolicy policy, String start) {
        InboxConfig config = config(group, topic, start);
        lookup = new TopicLookup(ConsumerSettings.adminProperties(config));
        RememberedOffsets memory = new RememberedOffsets(
                group,
                policy,
                config.start(),
                lookup,
                OffsetTable.of(Instance.INBOX),
                LocalTransactions.on(database),
                () -> new KafkaConsumer<>(ConsumerSettings.propertiesOfProbe(config)));
        PausedTable paused = PausedTable.of(Instance.INBOX);
        pauses = new Pauses(
                () -> LocalTransactions.on(database).inTransaction(connection -> paused.read(connection, group)),
                status::noteOrRemove);
        Subscription subscription = new Subscription(
                group,
                Map.of(topic, Map.of("order", List.of(handler()))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
        MetadataWatch metadata = new MetadataWatch();
        member = new GroupMember(
                new KafkaConsumer<>(ConsumerSettings.properties(config, group), metadata, new ByteArrayDeserializer()),
                metadata::takeChange,
                subscription,
                noting(),
                policy,
                config,
                status,
                memory,
                pauses,
                work::add,
                background);
        member.join();
    }

    static InboxConfig config(String group, String topic, String start) {
        Map<String, String> properties = Map.of(
                "twinbox.inbox.group",
                group,
                "twinbox.inbox.data-source",
                "java:app/jdbc/none",
                "twinbox.inbox.start",
                start,
                "twinbox.inbox.handler-timeout",
                "PT1S",
                "twinbox.inbox.kafka.bootstrap.servers",
                Topics.bootstrapServers());
        return InboxConfigReader.read(
                new SmallRyeConfigBuilder()
                        .withSources(new PropertiesConfigSource(properties, "test", 100))
                        .build(),
                Set.of(topic));
    }

    private static Handler handler() {
        return new Handler(
                "h",
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
    }

    private Processor noting() {
        return new Processor() {
            @Override
            public Outcome process(Batch batch) {
                batch.events()
                        .forEach(event -> handled.add(new String(event.record().value(), StandardCharsets.UTF_8)));
                return Outcome.goOn(batch.events().size());
            }

            @Override
            public Outcome settleHung(Batch batch, HandlerTimeoutException cause) {
                throw new AssertionError(cause);
            }
        };
    }

    /** Runs the member and its workers until the condition holds. */
    void runUntil(BooleanSupplier condition) {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            Assertions.assertThat(System.nanoTime())
                    .as("time, with %s handled and %s", handled, status.troubles())
                    .isLessThan(end);
            member.runOnce();
            for (Runnable each = work.poll(); each != null; each = work.poll()) {
                each.run();
            }
        }
    }

    void leave() {
        if (!hasLeft) {
            hasLeft = true;
            member.leave();
            background.shutdownNow();
            lookup.close();
        }
    }

    @Override
    public void close() {
        leave();
    }
}
