package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.WrongRecord.Draft;
import dev.twinbox.inbox.WrongRecord.Outcome;
import dev.twinbox.inbox.app.WrongRecordHandler;
import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All wrong records on one partition of a real broker, a right one after each. Checks what is in the database
 * afterwards.
 */
@Tag("proof")
public class WrongRecordsIT {

    private static final String APP = "wrong-records";

    @Test
    void eachWrongRecordHasItsOutcomeWithAClearErrorAndWhatIsBehindItIsHandled() {
        Database database = new Database("wrong_records");
        Servers.kafka().createTopic(APP, 1);
        Map<WrongRecord, Draft> drafts = new EnumMap<>(WrongRecord.class);
        List<String> effects = new ArrayList<>();
        try (Topics topics = new Topics()) {
            MainApp.deploy(new TestApp(APP, database.name()).with(WrongRecordHandler.class));
            for (WrongRecord wrong : WrongRecord.values()) {
                Draft draft = wrong.draft();
                drafts.put(wrong, draft);
                if (wrong.outcome() == Outcome.HANDLED) {
                    effects.add(draft.id);
                }
                effects.add("behind-" + draft.id);
                topics.add(new ProducerRecord<>(APP, 0, draft.key, draft.value, draft.headers));
                topics.add(APP, "key behind " + wrong, "behind-" + draft.id, "", 0);
            }
            topics.flush();
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());

            assertThat(database.effects(APP)).containsExactlyElementsOf(effects);
            SoftAssertions softly = new SoftAssertions();
            drafts.forEach((wrong, draft) -> softly.check(() -> assertParked(parked(database, wrong), wrong, draft)));
            softly.assertAll();
            assertThat(database.count("inbox_parked"))
                    .isEqualTo(count(Outcome.PARKED_WITHOUT_HANDLER, Outcome.PARKED_FOR_ITS_HANDLER));
            // More than once after a rebalance, which reads again what is not committed.
            assertThat(MainApp.status(APP, "skipped")).isGreaterThanOrEqualTo(count(Outcome.SKIPPED));
        } finally {
            Servers.payara().undeploy(APP);
        }
    }

    private static void assertParked(List<String> rows, WrongRecord wrong, Draft draft) {
        String kept = " " + md5(draft.key) + " " + md5(draft.value) + " " + draft.headers.toArray().length + " ";
        switch (wrong.outcome()) {
            case PARKED_WITHOUT_HANDLER ->
                assertThat(rows)
                        .as(wrong.name())
                        .singleElement()
                        .asString()
                        .startsWith("dead nobody" + kept)
                        .contains(wrong.text());
            case PARKED_FOR_ITS_HANDLER ->
                assertThat(rows)
                        .as(wrong.name())
                        .singleElement()
                        .asString()
                        .startsWith("dead " + APP + kept)
                        .contains(wrong.text());
            case SKIPPED, HANDLED -> assertThat(rows).as(wrong.name()).isEmpty();
        }
    }

    /** Each record and the right one after it went one by one to a new topic. */
    private static List<String> parked(Database database, WrongRecord wrong) {
        return database.texts("""
                select concat_ws(' ', state, coalesce(handler, 'nobody'), coalesce(md5(record_key), 'none'),
                                 coalesce(md5(record_value), 'none'), cardinality(header_names), error)
                  from inbox_parked where record_offset = ?""", 2L * wrong.ordinal());
    }

    private static long count(Outcome... outcomes) {
        return Arrays.stream(WrongRecord.values())
                .filter(wrong -> List.of(outcomes).contains(wrong.outcome()))
                .count();
    }

    private static String md5(byte @Nullable [] data) {
        try {
            return data == null
                    ? "none"
                    : String.format(
                            "%032x",
                            new BigInteger(1, MessageDigest.getInstance("MD5").digest(data)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
