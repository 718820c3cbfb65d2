package dev.twinbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jakarta.ejb.ApplicationException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RetryLaterExceptionTest {

    @ParameterizedTest
    @ValueSource(strings = {"PT0.000000001S", "PT5M", "PT168H"})
    void aDelayWithinTheBoundsIsKept(String delay) {
        assertThat(new RetryLaterException(Duration.parse(delay)).delay()).hasToString(delay);
        assertThat(new RetryLaterException(Duration.parse(delay), "why", new Exception()))
                .hasMessage("why");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT168H0.000000001S"})
    void aDelayOutOfBoundsIsRefusedWithItsValueAndTheBounds(String delay) {
        Duration wrong = Duration.parse(delay);

        assertThatThrownBy(() -> new RetryLaterException(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the delay is " + delay + "; give a duration above zero and at most PT168H");
        assertThatThrownBy(() -> new RetryLaterException(wrong, "why")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RetryLaterException(wrong, "why", new Exception()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** By the EJB rules a system exception discards the bean, and is logged each time. */
    @Test
    void theContainerPassesItOnAsItIs() {
        assertThat(RetryLaterException.class.getAnnotation(ApplicationException.class))
                .isNotNull()
                .extracting(ApplicationException::rollback)
                .isEqualTo(true);
    }
}
