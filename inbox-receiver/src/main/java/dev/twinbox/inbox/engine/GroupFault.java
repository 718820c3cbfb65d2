package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.jspecify.annotations.Nullable;

/** Why a member cannot join its group, in words that name the remedy. */
final class GroupFault {

    private GroupFault() {}

    /** The exception as text; after a remedy if an operator has to act. */
    static String text(String group, Throwable thrown) {
        String remedy = null;
        for (Throwable each = thrown; each != null && remedy == null; each = each.getCause()) {
            remedy = remedy(group, each);
        }
        return remedy == null ? ErrorText.of(thrown) : remedy + ": " + ErrorText.of(thrown);
    }

    private static @Nullable String remedy(String group, Throwable thrown) {
        if (thrown instanceof InconsistentGroupProtocolException) {
            return "Group " + group + " still has consumers that are not Twinbox and use another assignor. Stop them: "
                    + "the receiver joins by itself as soon as they have left. A rollout that waits for readiness "
                    + "never stops them, so stop them first. To keep them running, see the documentation, "
                    + "moving an existing consumer in";
        }
        if (thrown instanceof GroupAuthorizationException) {
            return "Group " + group + " may not be joined. Grant Read on the group to the application's Kafka user "
                    + "(kafka-acls.sh --add --allow-principal User:<user> --operation Read --group " + group + ")";
        }
        return null;
    }
}
