package dev.twinbox.inbox.kafka;

import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.jspecify.annotations.Nullable;

/**
 * The text that is committed with an offset.
 *
 * <p>Kafka keeps an offset under the name of its topic, and takes it for any topic of that name. So the mark says which
 * topic the offset belongs to.
 *
 * @param topicId null if it is not known: somebody else, or an earlier version, has committed the offset
 * @param isGivenBack whether the partition was given back properly. The next owner removes that before it hands out the
 *     first batch. If it is missing, the previous owner may have crashed because of an event.
 */
public record CommitMark(@Nullable TopicId topicId, boolean isGivenBack) {

    private static final String GIVEN_BACK = "given back";

    private static final Pattern TEXT = Pattern.compile(
            "(?:topic (?<topic>[0-9a-f-]{36}) of cluster (?<cluster>\\S+?))?(?:, )?(?<given>" + GIVEN_BACK + ")?");

    public static CommitMark of(OffsetAndMetadata committed) {
        Matcher text = TEXT.matcher(committed.metadata());
        if (!text.matches()) {
            return new CommitMark(null, false);
        }
        String topic = text.group("topic");
        return new CommitMark(
                topic == null ? null : new TopicId(text.group("cluster"), UUID.fromString(topic)),
                text.group("given") != null);
    }

    /** What is to be committed. */
    public OffsetAndMetadata at(long offset) {
        return new OffsetAndMetadata(offset, text());
    }

    private String text() {
        if (topicId == null) {
            return isGivenBack ? GIVEN_BACK : "";
        }
        return "topic " + topicId.id() + " of cluster " + topicId.cluster() + (isGivenBack ? ", " + GIVEN_BACK : "");
    }
}
