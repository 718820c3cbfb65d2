package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.DeliveryContract;
import dev.twinbox.ParkedEvent;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.jdbc.SqlIdentifier;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The tables take every event that Kafka and the settings allow, at the edges of each column: length, time, encoding,
 * number and null. A timestamp in nanoseconds made the parking fail, so the partition stood.
 */
class Fault03ParkedEdgesIT {

    private static final Backoff NOW = new Backoff(Duration.ZERO, Duration.ZERO);
    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");
    private static final SqlIdentifier PARKED = new SqlIdentifier(null, "inbox_parked");

    /** As long as each may be. All characters have as many bytes as possible. */
    private static final String LONGEST_GROUP = incompressible(85, 3);

    private static final String LONGEST_HANDLER = incompressible(200, 3);
    private static final String LONGEST_ID = incompressible(128, 4);
    private static final String LONGEST_TYPE = incompressible(128, 4);
    private static final String LONGEST_TOPIC = "t".repeat(249);

    private static Database database;

    private final InboxTable inbox = new InboxTable(INBOX, PARKED);
    private final ParkedTable parked = new ParkedTable(PARKED);
    private final RecordedStarts starts = new RecordedStarts(PARKED);
    private final ParkedRows rows = new ParkedRows(INBOX, PARKED);
    private final Handler handler = new Handler(
            LONGEST_HANDLER,
            DeliveryContract.EXACTLY_ONCE_EFFECT,
            HandlerShape.EVENT,
            String.class,
            MethodHandles.empty(Handler.CALL));
    private Connection connection;

    @BeforeAll
    static void create() {
        database = new Database("parked_edges");
    }

    @BeforeEach
    void connect() {
        database.execute("truncate inbox_event, inbox_parked");
        connection = database.connect();
    }

    @AfterEach
    void disconnect() throws SQLException {
        connection.close();
    }

    static LongStream times() {
        return LongStream.of(
                ConsumerRecord.NO_TIMESTAMP,
                0,
                1,
                System.currentTimeMillis(),
                System.currentTimeMillis() * 1_000,
                System.currentTimeMillis() * 1_000_000,
                253_402_300_799_999L, // the end of the year 9999
                253_402_300_800_000L,
                9_224_318_015_999_999L, // the end of PostgreSQL's time
                9_224_318_016_000_000L,
                9_223_372_036_825_200_000L, // the driver's infinity
                Long.MAX_VALUE);
    }

    @ParameterizedTest
    @MethodSource("times")
    void aTimeIsStoredOrSaidInTheError(long time) throws SQLException {
        park(event(time, utf8("k"), utf8("v"), new RecordHeaders()), "boom");

        ParkedEvent back = theOne();
        assertThat(back.value()).isEqualTo(utf8("v"));
        if (back.time() == null && time >= 0) {
            assertThat(back.error()).startsWith("boom [not stored: the record's time " + time);
            assertThat(time).isGreaterThan(253_402_300_799_999L);
        } else {
            assertThat(back.error()).isEqualTo("boom");
            assertThat(back.time()).isEqualTo(time < 0 ? null : Instant.ofEpochMilli(time));
        }
        assertThat(due().orElseThrow().record().timestamp())
                .isEqualTo(back.time() == null ? ConsumerRecord.NO_TIMESTAMP : time);
    }

    /** What is left out stays known when the event fails again, and while it waits for another one. */
    @Test
    void whatIsLeftOutIsSaidAsLongAsTheEventIsParked() throws SQLException {
        ReceivedEvent event = event(Long.MAX_VALUE, utf8("k"), utf8("v"), new RecordHeaders());
        park(event, "boom");
        parked.failedAgain(connection, due().orElseThrow(), 5, State.DEAD, "again", NOW);
        assertThat(theOne().error())
                .isEqualTo("again [not stored: the record's time " + Long.MAX_VALUE
                        + ", which is not in milliseconds since 1970]");

        database.execute("truncate inbox_parked");
        parked.follow(connection, LONGEST_GROUP, event, handler, State.BEHIND, null, NOW);
        assertThat(theOne().error()).startsWith("[not stored: ");
        assertThat(theOne().failedAt()).isNull();

        database.execute("truncate inbox_parked");
        assertThat(starts.record(connection, LONGEST_GROUP, event, handler)).isNotNull();
    }

    static Stream<byte @Nullable []> contents() {
        return Stream.of(null, new byte[0], new byte[] {0}, random(4_000), random(65_536), random(20 << 20));
    }

    @ParameterizedTest
    @MethodSource("contents")
    void anyKeyAndAnyValueAreParkedClaimedAndDiscarded(byte @Nullable [] content) throws SQLException {
        ReceivedEvent event = event(0, content, content, new RecordHeaders());

        park(event, "boom");
        ParkedEvent back = due().orElseThrow().event();
        assertThat(back.key()).isEqualTo(content);
        assertThat(back.value()).isEqualTo(content);
        assertThat(back.eventId()).isEqualTo(LONGEST_ID);
        assertThat(back.eventType()).isEqualTo(LONGEST_TYPE);
        assertThat(back.offset()).isEqualTo(Long.MAX_VALUE);
        assertThat(back.partition()).isEqualTo(Integer.MAX_VALUE);
        assertThat(claim(event)).as("parked").isEmpty();

        assertThat(rows.discard(connection, back.number()).isDone()).isTrue();
        assertThat(claim(event)).as("handled").isEmpty();
        database.execute("truncate inbox_event");
        assertThat(claim(event)).containsExactly(ClaimResult.TO_HANDLE);
        assertThat(inbox.isHandled(connection, LONGEST_GROUP, new Delivery(handler, event)))
                .isTrue();
    }

    @Test
    void anyHeadersAreParked() throws SQLException {
        RecordHeaders headers = new RecordHeaders();
        headers.add("", null);
        headers.add("\0", new byte[0]);
        headers.add("\ud83d\ude00{},\"\\", random(100_000));
        for (int i = 0; i < 1_000; i++) {
            headers.add("twice", random(10));
        }

        park(event(0, null, null, headers), "boom");

        List<ParkedEvent.RawHeader> back = due().orElseThrow().event().headers();
        assertThat(back).hasSize(1_003 + 2);
        for (int i = 0; i < 1_003; i++) {
            assertThat(back.get(i + 2).name()).isEqualTo(headers.toArray()[i].key());
            assertThat(back.get(i + 2).value()).isEqualTo(headers.toArray()[i].value());
        }
    }

    static Stream<String> messages() {
        return Stream.of(
                "", "\0", "\ud800", "\udc00\ud800", "€".repeat(100_000), "\ud83d\ude00".repeat(1_500), "'\"\\");
    }

    @ParameterizedTest
    @MethodSource("messages")
    void anyErrorIsStored(String message) throws SQLException {
        Throwable thrown = new IllegalStateException(message, new IllegalStateException(message));

        park(event(Long.MAX_VALUE, utf8("k"), null, new RecordHeaders()), ErrorText.of(thrown));
        assertThat(theOne().error()).contains("IllegalStateException", "[not stored: ");
        parked.failedAgain(connection, due().orElseThrow(), 5, State.DEAD, ErrorText.of(thrown), NOW);
        assertThat(theOne().error()).contains("IllegalStateException", "[not stored: ");
    }

    @Test
    void aRecordWithoutAnIdentityIsParkedForNobody() throws SQLException {
        ConsumerRecord<byte[], byte[]> record = record(Long.MAX_VALUE, null, null, new RecordHeaders());
        ReceivedEvent event = ReceivedEvent.of(record, subscription());
        assertThat(event.isReadable()).isFalse();

        parked.park(connection, LONGEST_GROUP, event, null, State.DEAD, 0, "unreadable", NOW);

        assertThat(theOne().error()).startsWith("unreadable [not stored: ");
        assertThat(theOne().eventId()).isNull();
    }

    private void park(ReceivedEvent event, String error) throws SQLException {
        assertThat(event.isReadable()).isTrue();
        parked.park(connection, LONGEST_GROUP, event, handler, State.RETRY, 3, error, NOW);
    }

    private ParkedEvent theOne() throws SQLException {
        List<ParkedEvent> all = rows.list(connection, LONGEST_GROUP, 0, 10);
        assertThat(all).hasSize(1);
        return rows.find(connection, all.get(0).number()).orElseThrow();
    }

    private static List<AnnouncedHandler> handlers() {
        return List.of(new AnnouncedHandler(
                LONGEST_TOPIC, LONGEST_TYPE, LONGEST_HANDLER, DeliveryContract.EXACTLY_ONCE_EFFECT));
    }

    private Optional<DueEvent> due() throws SQLException {
        return parked.takeDue(connection, LONGEST_GROUP, Instant.EPOCH, handlers(), NOW);
    }

    private List<ClaimResult> claim(ReceivedEvent event) throws SQLException {
        List<ClaimResult> results = new ArrayList<>();
        inbox.claim(
                connection,
                LONGEST_GROUP,
                List.of(new Delivery(handler, event)),
                (delivery, result) -> results.add(result));
        return results;
    }

    private ReceivedEvent event(long time, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders more) {
        RecordHeaders headers = new RecordHeaders();
        headers.add("ce_id", utf8(LONGEST_ID));
        headers.add("ce_type", utf8(LONGEST_TYPE));
        more.forEach(headers::add);
        return ReceivedEvent.of(record(time, key, value, headers), subscription());
    }

    private static ConsumerRecord<byte[], byte[]> record(
            long time, byte @Nullable [] key, byte @Nullable [] value, RecordHeaders headers) {
        return new ConsumerRecord<>(
                LONGEST_TOPIC,
                Integer.MAX_VALUE,
                Long.MAX_VALUE,
                time,
                TimestampType.CREATE_TIME,
                ConsumerRecord.NULL_SIZE,
                ConsumerRecord.NULL_SIZE,
                key,
                value,
                headers,
                Optional.empty());
    }

    private Subscription subscription() {
        return new Subscription(
                LONGEST_GROUP,
                Map.of(LONGEST_TOPIC, Map.of(LONGEST_TYPE, List.of(handler))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    /** Text that an index cannot compress, of characters of 3 or 4 bytes. */
    private static String incompressible(int characters, int bytes) {
        return new Random(characters)
                .ints(characters, bytes == 3 ? 0x4e00 : 0x20000, bytes == 3 ? 0x9fff : 0x2a6df)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
