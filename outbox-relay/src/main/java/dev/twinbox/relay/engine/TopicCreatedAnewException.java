package dev.twinbox.relay.engine;

import java.util.SortedSet;

/**
 * A topic was deleted and created again while the producer had records for it. A record for a partition that is gone
 * never gets an answer. A new producer sends it to the new topic.
 */
final class TopicCreatedAnewException extends Exception {
    private static final long serialVersionUID = 1L;

    TopicCreatedAnewException(SortedSet<String> topics) {
        super("topics were deleted and created again, and records for them got no answer: " + topics
                + "; a new producer sends them");
    }
}
