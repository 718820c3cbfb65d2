package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.GroupAuthorizationException;
import org.apache.kafka.common.errors.InconsistentGroupProtocolException;
import org.junit.jupiter.api.Test;

/** A group that cannot be joined is a trouble whose text names the remedy. */
class Fault42GroupFaultTest {

    @Test
    void membersOfAnotherAssignorAreToBeStoppedFirst() {
        assertThat(GroupFault.text("g", new InconsistentGroupProtocolException("inconsistent")))
                .contains("Group g still has consumers", "Stop them", "inconsistent");
        assertThat(GroupFault.text("g", new KafkaException("join", new InconsistentGroupProtocolException("inner"))))
                .contains("Stop them", "inner");
    }

    @Test
    void theMissingRightOfAGroupIsNamed() {
        assertThat(GroupFault.text("g", GroupAuthorizationException.forGroupId("g")))
                .contains("Grant Read", "--group g");
    }

    @Test
    void anythingElseIsTheExceptionsText() {
        assertThat(GroupFault.text("g", new KafkaException("else")))
                .isEqualTo("org.apache.kafka.common.KafkaException: else");
    }
}
