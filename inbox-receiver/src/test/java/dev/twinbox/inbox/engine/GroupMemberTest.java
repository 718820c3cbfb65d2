package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.ParkedEvent;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.Topics;
import dev.twinbox.inbox.config.FirstStart;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.Paused;
import dev.twinbox.inbox.kafka.CommitMark;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import dev.twinbox.inbox.kafka.PartitionStart;
import dev.twinbox.inbox.kafka.TopicId;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.jdbc.SqlIdentifier;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetCommitCallback;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The poll thread's rules, step by step, with Kafka's {@code MockConsumer}. Workers run when the test says so. */
class GroupMemberTest {

    private static final TopicPartition ONE = new TopicPartition("orders", 0);
    private static final TopicPartition TWO = new TopicPartition("orders", 1);
    private static final int BATCH = 2;

    /** By partition, for all owners. */
    private final Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();

    /** The same, with the topic that each offset belongs to. */
    private final Map<TopicPartition, OffsetAndMetadata> marks = new HashMap<>();

    private long commits;
    private boolean metadataChanged;

    /** Where the next empty poll gets to in partition ONE. */
    private @Nullable OffsetAndMetadata pastTail;

    /** How long the last poll was allowed to wait. */
    private Duration lastPoll = Duration.ZERO;

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("earliest") {
        @Override
        public synchronized void commitAsync(
                Map<TopicPartition, OffsetAndMetadata> offsets, OffsetCommitCallback callback) {
            commits++;
            note(offsets);
            callback.onComplete(offsets, null);
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            lastPoll = timeout;
            ConsumerRecords<byte[], byte[]> polled = super.poll(timeout);
            if (polled.isEmpty() && pastTail != null) {
                polled = new ConsumerRecords<>(Map.of(), Map.of(ONE, pastTail));
                pastTail = null;
            }
            return polled;
        }

        @Override
        public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
            note(offsets);
        }

        private void note(Map<TopicPartition, OffsetAndMetadata> offsets) {
            marks.putAll(offsets);
            offsets.forEach((partition, offset) -> committed.put(
                    partition, new CommitMark(null, CommitMark.of(offset).isGivenBack()).at(offset.offset())));
        }

        @Override
        public synchronized Map<TopicPartition, OffsetAndMetadata> committed(
                Set<TopicPartition> partitions, Duration timeout) {
            Map<TopicPartition, OffsetAndMetadata> found = new HashMap<>();
            partitions.forEach(partition -> found.put(partition, committed.get(partition)));
            return found;
        }
    };

    private final ReceiverStatus status = new ReceiverStatus();
    private final FakeMemory memory = new FakeMemory();

    /** What an operator has paused, once it is refreshed. */
    private Paused paused = Paused.NOTHING;

    private final Pauses pauses = new Pauses(() -> paused, status::noteOrRemove);
    private final Deque<Runnable> work = new ArrayDeque<>();
    private final List<List<Long>> batches = new ArrayList<>();
    private Function<Batch, Outcome> processor =
            batch -> Outcome.goOn(batch.events().size());
    private InboxConfig.Lanes lanes = new InboxConfig.Lanes(1, 5000);
    private InboxConfig.Buffer buffer = new InboxConfig.Buffer(1 << 20, 1 << 20);
    /** Short, for tests in which no outcome comes. */
    private Duration shutdownTimeout = Duration.ofMillis(300);

    private GroupMember member = member(OffsetPolicy.AFTER_HANDLING);

    @Test
    void offsetsAreCommittedOnlyAfterTheEventsAreHandled() {
        joinWith(ONE);
        add(ONE, 0, 1);

        turns(3);
        assertThat(committed(ONE)).isNull();

        work.remove().run();
        turns(1);
        assertThat(committed(ONE)).isEqualTo(2);
    }

    @Test
    void onlyTheSettledPrefixIsCommittedAndTheRestIsHandedOutAgain() {
        joinWith(ONE);
        add(ONE, 0, 1);
        processor = batch -> Outcome.goOn(1);

        turns(2);
        work.remove().run();
        turns(1);

        assertThat(committed(ONE)).isEqualTo(1);
        work.remove().run();
        runAllUntil(() -> Long.valueOf(2).equals(committed(ONE)));
        assertThat(batches).containsExactly(List.of(0L, 1L), List.of(1L));
    }

    @Test
    void aPartitionWithEnoughIsPausedAndOthersAreNot() {
        joinWith(ONE, TWO);
        add(ONE, 0, 1, 2, 3);
        add(TWO, 0);

        turns(2); // the second one finds no room
        assertThat(consumer.paused()).containsExactly(ONE);

        work.forEach(Runnable::run);
        work.clear();
        turns(1);
        assertThat(consumer.paused()).isEmpty();
    }

    @Test
    void onePartitionIsWithOneWorkerAtATime() {
        joinWith(ONE);
        add(ONE, 0, 1, 2, 3);

        turns(5);
        assertThat(work).hasSize(1);

        work.remove().run();
        turns(5);
        assertThat(work).hasSize(1);
        work.remove().run();
        assertThat(batches).containsExactly(List.of(0L, 1L), List.of(2L, 3L));
    }

    /**
     * Each commit is a request to the broker. The bound proves nothing on a machine that takes 2 s for a hundred
     * batches.
     */
    @Test
    void offsetsOfManyBatchesAreCommittedTogether() {
        joinWith(ONE);
        long start = System.nanoTime();

        for (int batch = 1; batch <= 100; batch++) {
            add(ONE, 2L * batch - 2, 2L * batch - 1);
            int handled = batch;
            runAllUntil(() -> batches.size() == handled);
        }
        runAllUntil(() -> Long.valueOf(200).equals(committed(ONE)));

        assertThat(commits)
                .isLessThanOrEqualTo(
                        2 + (System.nanoTime() - start) / Duration.ofMillis(20).toNanos());
    }

    @Test
    void aFailingEventHoldsUpItsPartitionAndNoOther() {
        joinWith(ONE, TWO);
        add(ONE, 0);
        add(TWO, 0);
        processor = batch -> batch.events().get(0).record().partition() == 0 ? broken(batch) : Outcome.goOn(1);

        runAllUntil(() -> batches.size() >= 4 && committed(TWO) != null);

        assertThat(committed(ONE)).isNull();
        assertThat(committed(TWO)).isEqualTo(1);
        assertThat(status.troubles()).doesNotContainKey("orders-0");
    }

    private static Outcome broken(Batch batch) {
        batch.events().get(0).failed();
        return Outcome.waitForEvent(0, new IllegalStateException("broken"), handler("ship"));
    }

    @Test
    void aFailingEventIsNotTriedInAHotLoop() {
        joinWith(ONE);
        add(ONE, 0);
        processor = GroupMemberTest::broken;

        runAllFor(300);

        // After 10, 20, 40, 80, 80 … milliseconds, so fewer on a busy machine.
        assertThat(batches).hasSizeBetween(1, 7);
    }

    @Test
    void whatMayHaveKilledTheOneBeforeIsHandledWithCareUntilABatchIsThrough() {
        committed.put(ONE, new OffsetAndMetadata(0));
        joinWith(ONE);
        add(ONE, 0, 1, 2, 3);
        List<HandoverKind> handovers = new ArrayList<>();
        processor = batch -> {
            handovers.add(batch.handover());
            return Outcome.goOn(1);
        };

        runAllUntil(() -> Long.valueOf(4).equals(committed(ONE)));

        // A batch has two events.
        assertThat(handovers)
                .containsExactly(
                        HandoverKind.AFTER_CRASH, HandoverKind.AFTER_CRASH, HandoverKind.CLEAN, HandoverKind.CLEAN);
    }

    @Test
    void aPartitionThatTheGroupHasNeverReadNeedsNoCareButTheNextOwnerIsToKnow() {
        joinWith(ONE);
        add(ONE, 0);
        List<HandoverKind> handovers = new ArrayList<>();
        processor = batch -> {
            handovers.add(batch.handover());
            return Outcome.goOn(1);
        };
        turns(1);

        assertThat(committed).containsEntry(ONE, new OffsetAndMetadata(0));
        runAllUntil(() -> committed(ONE) != null);
        assertThat(handovers).containsExactly(HandoverKind.CLEAN);
    }

    @Test
    void aPartitionGivenBackInOrderNeedsNoCareAndIsUnmarkedBeforeItsFirstBatch() {
        joinWith(ONE);
        add(ONE, 0);
        runAllUntil(() -> committed(ONE) != null);
        consumer.rebalance(Set.of());
        assertThat(committed).containsEntry(ONE, new OffsetAndMetadata(1, "given back"));

        List<HandoverKind> handovers = new ArrayList<>();
        processor = batch -> {
            handovers.add(batch.handover());
            return Outcome.goOn(1);
        };
        consumer.rebalance(Set.of(ONE));
        assertThat(committed).containsEntry(ONE, new OffsetAndMetadata(1));
        consumer.seek(ONE, 1);
        add(ONE, 1);
        runAllUntil(() -> Long.valueOf(2).equals(committed(ONE)));

        assertThat(handovers).containsExactly(HandoverKind.CLEAN);
    }

    @Test
    void aFaultOfTheDatabaseBlamesNoEvent() {
        joinWith(ONE);
        add(ONE, 0, 1);
        processor = batch -> Outcome.waitForDatabase(0, new IllegalStateException("connection refused"));

        runAllUntil(() -> batches.size() >= 3);

        assertThat(status.troubles().get("database")).contains("connection refused");
        assertThat(batches).allSatisfy(batch -> assertThat(batch).containsExactly(0L, 1L));
        assertThat(committed(ONE)).isNull();
    }

    @Test
    void aRevokedPartitionIsSettledAndCommittedBeforeItIsGivenAway() {
        shutdownTimeout = Duration.ofMinutes(1);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE, TWO);
        add(ONE, 0, 1);
        turns(2);
        processor = batch -> {
            awaitUntil(batch::isOver); // the member asks the worker to end early
            return Outcome.goOn(1);
        };
        new Thread(work.remove()).start();

        consumer.rebalance(Set.of(TWO));

        assertThat(committed(ONE)).isEqualTo(1);
    }

    @Test
    void theResultOfALostPartitionDoesNotCount() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        Runnable running = work.remove();

        member.handover().onPartitionsLost(Set.of(ONE));
        member.handover().onPartitionsAssigned(Set.of(ONE));
        running.run();
        turns(3);

        assertThat(committed(ONE)).isNull();
    }

    @Test
    void aHandlerThatTakesTooLongDoesNotStopARebalance() {
        joinWith(ONE);
        add(ONE, 0);
        turns(2);

        consumer.rebalance(Set.of());
        work.remove().run();
        turns(2);

        assertThat(committed(ONE)).isNull();
    }

    @Test
    void anOffsetOutOfRangeIsReportedAndTheOtherPartitionsGoOn() {
        joinWith(ONE, TWO);
        turns(1);
        consumer.setPollException(new OffsetOutOfRangeException(Map.of(ONE, 7L)));
        turns(1);
        add(TWO, 0);
        runAllUntil(() -> committed(TWO) != null);

        assertThat(status.troubles().get("orders-0")).contains("offset 7", "--reset-offsets");
        assertThat(consumer.paused()).containsExactly(ONE);
        assertThat(committed(TWO)).isEqualTo(1);
    }

    @Test
    void thePositionPastATailWithoutEventsIsCommittedOnceAllBeforeItIsSettled() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        pastTail = new OffsetAndMetadata(5);
        turns(2);
        assertThat(committed(ONE)).isNull();

        work.remove().run();
        runAllUntil(() -> Long.valueOf(5).equals(committed(ONE)));
    }

    @Test
    void aPartitionIsHeldUntilItIsKnownWhereItStartsAndTheOthersGoOn() {
        committed.put(TWO, new OffsetAndMetadata(0));
        memory.isDown = true;
        joinWith(ONE, TWO);
        add(TWO, 0);
        runAllUntil(() -> committed(TWO) != null);

        assertThat(consumer.paused()).containsExactly(ONE);
        assertThat(status.troubles().get("offsets of group group")).contains("orders-0", "the database is down");
        assertThat(committed).doesNotContainKey(ONE);

        memory.isDown = false;
        runAllUntil(() -> !status.troubles().containsKey("offsets of group group"));
        add(ONE, 0);
        runAllUntil(() -> committed(ONE) != null);
    }

    @Test
    void aPartitionWhoseOffsetKafkaForgotStartsAtTheRememberedOne() {
        memory.starts.put(ONE, new PartitionStart(5, HandoverKind.AFTER_CRASH, PartitionStart.Reason.REMEMBERED, null));
        joinWith(ONE);
        turns(1);

        assertThat(consumer.position(ONE)).isEqualTo(5);
        assertThat(committed(ONE)).isEqualTo(5);
    }

    @Test
    void aTopicCreatedAnewIsReadFromItsBeginningOnceWhatWasFetchedIsSettled() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        memory.createdAnew.add("orders");
        consumer.setPollException(new OffsetOutOfRangeException(Map.of(ONE, 2L)));
        turns(3);
        assertThat(consumer.position(ONE)).isEqualTo(2);

        work.remove().run();
        turns(3);
        assertThat(consumer.position(ONE)).isZero();
        assertThat(consumer.paused()).isEmpty();
        assertThat(status.troubles()).doesNotContainKey("orders-0");
    }

    /** Fault 66: it is longer than the former one, so no offset is out of range. */
    @Test
    void aTopicCreatedAnewAndLongerIsNoticedBeforeItsFirstRecordIsHandled() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        memory.createdAnew.add("orders");
        metadataChanged = true;
        add(ONE, 2, 3);
        turns(2);
        metadataChanged = false;
        runAllUntil(() -> consumer.position(ONE) == 0 && consumer.paused().isEmpty());

        assertThat(batches).containsExactly(List.of(0L, 1L));
        assertThat(CommitMark.of(marks.get(ONE)).topicId())
                .isEqualTo(memory.topicIds(Set.of("orders")).get("orders"));
    }

    /** A client that hears from its brokers all the time must not hold up events for ever. */
    @Test
    void eventsGoOnAlthoughThereIsAlwaysAReasonForDoubt() {
        metadataChanged = true;
        joinWith(ONE);
        add(ONE, 0, 1, 2);

        runAllUntil(() -> Long.valueOf(3).equals(committed(ONE)));
    }

    /** Fault 66. */
    @Test
    void aCommittedOffsetThatBelongsToAFormerTopicIsNotUsed() {
        TopicId former = memory.topicIds(Set.of("orders")).get("orders");
        committed.put(ONE, new CommitMark(former, true).at(2));
        memory.createdAnew.add("orders");
        joinWith(ONE);
        consumer.seek(ONE, 2);
        add(ONE, 2, 3);
        runAllUntil(() -> consumer.position(ONE) == 0);
        assertThat(batches).as("handled at the former offset").isEmpty();
        add(ONE, 0, 1, 2, 3);

        runAllUntil(() -> batches.stream().mapToInt(List::size).sum() >= 4);

        assertThat(batches).containsExactly(List.of(0L, 1L), List.of(2L, 3L));
    }

    /** A tool has copied it, so that the group goes on in another cluster. */
    @Test
    void anOffsetFromAnotherClusterIsUsed() {
        TopicId mirrored = new TopicId("other", new UUID(7, 7));
        committed.put(ONE, new CommitMark(mirrored, true).at(2));
        joinWith(ONE);
        consumer.seek(ONE, 2);
        add(ONE, 2, 3);

        runAllUntil(() -> Long.valueOf(4).equals(committed(ONE)));

        assertThat(batches).containsExactly(List.of(2L, 3L));
    }

    @Test
    void anOffsetOutOfRangeIsNoGapUntilItIsKnownWhetherTheTopicIsNew() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        work.remove().run();
        memory.createdAnew.add("orders");
        memory.isDown = true;
        consumer.setPollException(new OffsetOutOfRangeException(Map.of(ONE, 2L)));
        runAllUntil(() -> status.troubles().containsKey("orders-0"));
        assertThat(status.troubles().get("orders-0")).contains("offset 2", "the database is down");

        memory.isDown = false;
        runAllUntil(() -> !status.troubles().containsKey("orders-0"));
        runAllUntil(() -> consumer.paused().isEmpty());
        assertThat(consumer.position(ONE)).isZero();
    }

    @Test
    void whatIsSettledIsRememberedWhenTheGroupIsLeft() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        work.remove().run();
        member.leave();

        assertThat(memory.saved).containsEntry(ONE, 2L);
    }

    @Test
    void aDamagedBatchStopsItsPartitionAndNamesTheCommandThatStepsOverIt() {
        joinWith(ONE, TWO);
        turns(1);
        memory.nextReadable = 7;
        consumer.setPollException(
                new KafkaException("Received exception when fetching the next record from orders-0. If needed, seek"));
        turns(2);
        add(TWO, 0);
        runAllUntil(() -> committed(TWO) != null);

        assertThat(status.troubles().get("orders-0"))
                .contains("offset 0 of orders-0 cannot be read", "--reset-offsets --to-offset 7 --execute");
        assertThat(consumer.paused()).containsExactly(ONE);
    }

    @Test
    void anExceptionThatNamesNoPartitionIsThrown() {
        joinWith(ONE);
        turns(1);
        consumer.setPollException(new KafkaException("from orders-01 or orders-0.b-1"));

        assertThatCode(() -> turns(1)).isInstanceOf(KafkaException.class);
    }

    @Test
    void aForbiddenTopicIsLeftOutUntilItMayBeRead() {
        joinWith(ONE);
        turns(1);
        memory.forbidden.add("orders");
        consumer.setPollException(new TopicAuthorizationException(Set.of("orders")));
        turns(1);
        assertThat(consumer.subscription()).isEmpty();
        assertThat(status.troubles().get("topic orders")).contains("grant Read on topic orders");

        memory.forbidden.clear();
        runAllUntil(() -> consumer.subscription().contains("orders"));
        assertThat(status.troubles()).doesNotContainKey("topic orders");
    }

    @Test
    void atMostOnceCommitsBeforeTheHandlerRunsOneEventAtATime() {
        member = member(OffsetPolicy.BEFORE_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1);

        turns(2);
        assertThat(work).hasSize(1);
        assertThat(committed(ONE)).isEqualTo(1);

        work.remove().run();
        turns(1);
        assertThat(committed(ONE)).isEqualTo(2);
        work.remove().run();
        assertThat(batches).containsExactly(List.of(0L), List.of(1L));
    }

    @Test
    void atMostOnceDoesNotRunWhatCouldNotBeCommitted() {
        List<Long> refused = new ArrayList<>();
        MockConsumer<byte[], byte[]> failing = new MockConsumer<>("earliest") {
            @Override
            public void commitSync(Map<TopicPartition, OffsetAndMetadata> offsets, Duration timeout) {
                offsets.values().forEach(offset -> refused.add(offset.offset()));
                throw new KafkaException("no coordinator");
            }
        };
        member = member(failing, OffsetPolicy.BEFORE_HANDLING);
        member.join();
        failing.rebalance(Set.of(ONE));
        failing.updateBeginningOffsets(Map.of(ONE, 0L));
        failing.addRecord(record(ONE, 0, "1", "order"));

        turns(3);

        assertThat(refused).contains(1L);
        assertThat(work).isEmpty();
    }

    @Test
    void typesThatNobodyHandlesAreCommitted() {
        joinWith(ONE);
        consumer.addRecord(record(ONE, 0, "1", "foreign"));
        consumer.addRecord(record(ONE, 1, "2", "foreign"));

        runAllUntil(() -> committed(ONE) != null && committed(ONE) == 2);

        assertThat(committed(ONE)).isEqualTo(2);
    }

    @Test
    void leavingCommitsWhatIsSettledAndClosesTheConsumer() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        work.remove().run();

        member.leave();

        assertThat(committed(ONE)).isEqualTo(2);
        assertThat(consumer.closed()).isTrue();
        assertThatCode(member::leave).doesNotThrowAnyException();
    }

    @Test
    void lanesAreHandledAtTheSameTimeAndTheOffsetStopsAtTheFirstEventThatIsNotSettled() {
        lanes = new InboxConfig.Lanes(2, 5000);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1, 2, 3); // without a key the lanes take turns

        turns(2);
        assertThat(work).hasSize(2);
        Runnable ofFirst = work.remove();
        work.remove().run();
        turns(2);
        assertThat(batches).containsExactly(List.of(1L, 3L));
        assertThat(committed(ONE)).isNull();

        processor = batch -> Outcome.goOn(1);
        ofFirst.run();
        turns(1);
        assertThat(committed(ONE)).isEqualTo(2);
        work.remove().run();
        runAllUntil(() -> Long.valueOf(4).equals(committed(ONE)));
    }

    @Test
    void eventsOfOneKeyAreWithOneWorkerAtATime() {
        lanes = new InboxConfig.Lanes(4, 5000);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        for (int offset = 0; offset < 4; offset++) {
            consumer.addRecord(record(ONE, offset, "a", Integer.toString(offset), "order"));
        }

        turns(5);
        assertThat(work).hasSize(1);
        work.remove().run();
        turns(5);
        assertThat(work).hasSize(1);
        work.remove().run();
        assertThat(batches).containsExactly(List.of(0L, 1L), List.of(2L, 3L));
    }

    @Test
    void ofARevokedPartitionNothingBehindAnUnfinishedHandlerIsCommittedThenOrLater() {
        lanes = new InboxConfig.Lanes(2, 5000);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1, 2, 3);
        turns(2);
        Runnable unfinished = work.remove();
        work.remove().run();

        consumer.rebalance(Set.of());
        assertThat(committed).containsEntry(ONE, new OffsetAndMetadata(0, ""));

        unfinished.run();
        turns(2);
        assertThat(committed).containsEntry(ONE, new OffsetAndMetadata(0, ""));
    }

    @Test
    void aFailingEventHoldsUpItsLaneAndNoOther() {
        lanes = new InboxConfig.Lanes(2, 5000);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1, 2, 3, 4, 5);
        processor = batch -> batch.events().get(0).offset() == 0
                ? broken(batch)
                : Outcome.goOn(batch.events().size());

        runAllUntil(() -> batches.contains(List.of(5L)) || batches.contains(List.of(3L, 5L)));

        assertThat(committed(ONE)).isNull();
    }

    @Test
    void aPartitionIsNotReadOnWhileItsFastestLaneIsFarAhead() {
        lanes = new InboxConfig.Lanes(2, 4);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1, 2);
        turns(2);
        Runnable slow = work.remove();
        work.remove().run();
        turns(2);
        assertThat(consumer.paused()).isEmpty();

        add(ONE, 3);
        turns(2);
        work.remove().run();
        turns(1);
        assertThat(consumer.paused()).containsExactly(ONE);

        slow.run();
        turns(1);
        assertThat(consumer.paused()).isEmpty();
        assertThat(committed(ONE)).isEqualTo(4);
    }

    @Test
    void whatMayHaveKilledAnyLaneOfTheOneBeforeIsHandledWithCare() {
        lanes = new InboxConfig.Lanes(2, 600);
        committed.put(ONE, new OffsetAndMetadata(0));
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE);
        Map<Long, HandoverKind> handovers = new HashMap<>();
        processor = batch -> {
            handovers.put(batch.events().get(0).offset(), batch.handover());
            return Outcome.goOn(1);
        };
        for (long offset = 0; offset < 1200; offset++) {
            add(ONE, offset);
        }

        runAllUntil(() -> Long.valueOf(1200).equals(committed(ONE)));

        // As far ahead as lanes may be, plus one poll.
        assertThat(handovers)
                .hasSize(1200)
                .allSatisfy((offset, handover) -> assertThat(handover)
                        .isEqualTo(offset < 600 + 500 ? HandoverKind.AFTER_CRASH : HandoverKind.CLEAN));
    }

    @Test
    void aPartitionWhoseRecordsTakeMuchMemoryIsPausedAlsoIfTheyAreFew() {
        buffer = new InboxConfig.Buffer(3000, 1 << 20);
        member = member(OffsetPolicy.AFTER_HANDLING);
        joinWith(ONE, TWO);
        consumer.addRecord(record(ONE, 0, "a", "x".repeat(2500), "order"));
        add(TWO, 0);

        turns(2);
        assertThat(consumer.paused()).containsExactly(ONE);
    }

    @Test
    void whenAllTogetherTakeMuchMemoryOnlyPartitionsThatHaveNothingAreReadOn() {
        buffer = new InboxConfig.Buffer(3000, 3000);
        member = member(OffsetPolicy.AFTER_HANDLING);
        TopicPartition three = new TopicPartition("orders", 2);
        joinWith(ONE, TWO, three);
        consumer.addRecord(record(ONE, 0, "a", "x".repeat(1200), "order"));
        consumer.addRecord(record(TWO, 0, "a", "x".repeat(1200), "order"));

        turns(2);
        assertThat(consumer.paused()).containsExactlyInAnyOrder(ONE, TWO);
        work.remove().run();
        turns(1);
        assertThat(consumer.paused()).isEmpty();
    }

    @Test
    void atMostOnceStaysOneByOneHoweverManyLanesThereAre() {
        lanes = new InboxConfig.Lanes(4, 5000);
        member = member(OffsetPolicy.BEFORE_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1, 2);

        turns(3);
        assertThat(work).hasSize(1);
        assertThat(committed(ONE)).isEqualTo(1);
    }

    @Test
    void whatAtMostOnceHasCommittedStaysCommittedWhenItsHandlerTakesTooLong() {
        member = member(OffsetPolicy.BEFORE_HANDLING);
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        assertThat(committed(ONE)).isEqualTo(1);

        consumer.rebalance(Set.of());

        assertThat(committed(ONE)).isEqualTo(1);
    }

    private void pause(String... topics) {
        SortedMap<String, Instant> since = new TreeMap<>();
        for (String topic : topics) {
            since.put(topic, Instant.EPOCH);
        }
        paused = new Paused(since, Collections.emptySortedMap());
        pauses.refresh();
    }

    @Test
    void aPausedTopicIsHeldThroughARebalanceAndGoesOnWhereItStopped() {
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        assertThat(work).hasSize(1);

        pause("orders", "other");
        turns(1);
        work.remove().run();
        turns(3);
        assertThat(work).isEmpty();
        assertThat(consumer.paused()).containsExactly(ONE);
        assertThat(status.troubles()).containsOnlyKeys("topic orders"); // the consumer of this test shows none
        assertThat(status.notes()).containsOnlyKeys("pause of topic orders", "pause of topic other");

        consumer.rebalance(Set.of());
        consumer.rebalance(Set.of(ONE));
        add(ONE, 2, 3);
        turns(3);
        assertThat(work).isEmpty();
        assertThat(consumer.paused()).containsExactly(ONE);
        assertThat(committed(ONE)).isEqualTo(2);

        pause("other");
        runAllUntil(() -> Objects.equals(committed(ONE), 4L));
        assertThat(consumer.paused()).isEmpty();
        assertThat(status.notes()).containsOnlyKeys("pause of topic other");
    }

    /** What it has not begun is handed out again when the topic is resumed. */
    @Test
    void aBatchOfATopicThatIsPausedEndsAfterItsEvent() {
        List<Batch> handedOut = new ArrayList<>();
        processor = batch -> {
            handedOut.add(batch);
            return Outcome.goOn(batch.isCutShort() ? 1 : batch.events().size());
        };
        joinWith(ONE, TWO);
        add(ONE, 0, 1);
        turns(2);
        pause("orders");
        turns(1);
        work.remove().run();
        turns(2);
        assertThat(work).isEmpty();
        assertThat(handedOut).hasSize(1);
        assertThat(handedOut.get(0).isCutShort()).isTrue();
        assertThat(committed(ONE)).isEqualTo(1);

        pause();
        runAllUntil(() -> Objects.equals(committed(ONE), 2L));
        assertThat(batches).containsExactly(List.of(0L, 1L), List.of(1L));
    }

    /** Its wait is over, but it is not handed out: without a wait the poll thread would use a whole processor. */
    @Test
    void thePollThreadSleepsWhileAnEventThatHasFailedBelongsToAPausedTopic() {
        processor = batch -> Outcome.waitForEvent(0, new IllegalStateException("fails"), null);
        joinWith(ONE);
        add(ONE, 0, 1);
        turns(2);
        work.remove().run();
        pause("orders");
        turns(2);

        awaitUntil(() -> {
            turns(1);
            return lastPoll.equals(Duration.ZERO) || lastPoll.compareTo(Duration.ofMillis(500)) > 0;
        });

        assertThat(lastPoll).isGreaterThan(Duration.ofMillis(500));
        pause();
        processor = batch -> Outcome.goOn(batch.events().size());
        runAllUntil(() -> Objects.equals(committed(ONE), 2L));
    }

    /** The docs advise it when too many events wait for a handler. A worker may still bring the news afterwards. */
    @Test
    void aPartitionThatIsHeldIsNoTroubleWhileItsTopicIsPaused() {
        String partition = ONE.toString();
        processor = batch -> Outcome.hold(0, new IllegalStateException("too many wait"));
        joinWith(ONE, TWO);
        add(ONE, 0);
        turns(2);
        work.remove().run();
        turns(1);
        assertThat(status.troubles()).containsKey(partition);

        add(TWO, 0);
        turns(2);
        pause("orders");
        turns(2);
        assertThat(status.troubles()).doesNotContainKey(partition);

        work.remove().run();
        turns(2);
        assertThat(status.troubles()).doesNotContainKey(TWO.toString());
        assertThat(work).isEmpty();

        pause();
        runAllUntil(() -> status.troubles().keySet().containsAll(Set.of(partition, TWO.toString())));
        processor = batch -> Outcome.goOn(batch.events().size());
        runAllUntil(() -> Objects.equals(committed(ONE), 1L) && Objects.equals(committed(TWO), 1L));
        assertThat(status.troubles()).doesNotContainKeys(partition, TWO.toString());
    }

    private GroupMember member(OffsetPolicy policy) {
        return member(consumer, policy);
    }

    private GroupMember member(MockConsumer<byte[], byte[]> of, OffsetPolicy policy) {
        InboxConfig config = new InboxConfig(
                "group",
                "java:app/jdbc/x",
                new SqlIdentifier(null, "inbox_event"),
                new InboxConfig.Batch(BATCH, Duration.ofMinutes(1)),
                8,
                lanes,
                Duration.ofMinutes(5),
                buffer,
                new Backoff(Duration.ofMillis(10), Duration.ofMillis(80)),
                new InboxConfig.Parking(
                        new SqlIdentifier(null, "inbox_parked"),
                        3,
                        20,
                        new Backoff(Duration.ofMillis(10), Duration.ofMillis(80)),
                        ParkedEvent.State.DEAD),
                new FirstStart(FirstStart.Kind.EARLIEST, null),
                null,
                shutdownTimeout,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                Map.of());
        Subscription subscription = new Subscription(
                "group",
                Map.of("orders", Map.of("order", List.of(handler("ship")))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
        Processor noting = new Processor() {
            @Override
            public Outcome process(Batch batch) {
                batches.add(batch.events().stream().map(ReceivedEvent::offset).toList());
                return processor.apply(batch);
            }

            @Override
            public Outcome settleHung(Batch batch, HandlerTimeoutException cause) {
                throw new AssertionError(cause);
            }
        };
        return new GroupMember(
                of,
                () -> metadataChanged,
                subscription,
                noting,
                policy,
                config,
                status,
                memory,
                pauses,
                work::add,
                Runnable::run);
    }

    private static Handler handler(String name) {
        return new Handler(
                name,
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
    }

    private void joinWith(TopicPartition... partitions) {
        Map<TopicPartition, Long> beginnings = new HashMap<>();
        for (TopicPartition partition : partitions) {
            beginnings.put(partition, 0L);
        }
        consumer.updateBeginningOffsets(beginnings);
        member.join();
        consumer.rebalance(Set.of(partitions));
    }

    private void add(TopicPartition partition, long... offsets) {
        for (long offset : offsets) {
            consumer.addRecord(record(partition, offset, Long.toString(offset), "order"));
        }
    }

    private static ConsumerRecord<byte[], byte[]> record(
            TopicPartition partition, long offset, String id, String type) {
        return record(partition, offset, null, id, type);
    }

    private static ConsumerRecord<byte[], byte[]> record(
            TopicPartition partition, long offset, @Nullable String key, String id, String type) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(
                partition.topic(), partition.partition(), offset, key == null ? null : Topics.bytes(key), new byte[0]);
        record.headers().add(CloudEventHeaders.ID, id.getBytes(StandardCharsets.UTF_8));
        record.headers().add(CloudEventHeaders.TYPE, type.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private void turns(int number) {
        for (int i = 0; i < number; i++) {
            member.runOnce();
        }
    }

    /** Runs member and workers for so many milliseconds. */
    private void runAllFor(long millis) {
        long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
        runAllUntil(() -> System.nanoTime() >= end);
    }

    /** Runs member and workers until the condition holds. */
    private void runAllUntil(BooleanSupplier condition) {
        long end = System.nanoTime() + Duration.ofSeconds(90).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("time").isLessThan(end);
            member.runOnce();
            while (!work.isEmpty()) {
                work.remove().run();
            }
        }
    }

    private static void awaitUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.onSpinWait();
        }
    }

    /** Null if nothing but the start was committed. */
    private @Nullable Long committed(TopicPartition partition) {
        OffsetAndMetadata offset = committed.get(partition);
        return offset == null || offset.offset() == 0 ? null : offset.offset();
    }
}
