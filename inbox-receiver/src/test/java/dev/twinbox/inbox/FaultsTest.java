package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import javax.transaction.xa.XAException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultsTest {

    @ParameterizedTest
    @ValueSource(strings = {"08006", "08001", "57P01", "57P03", "40001", "40P01"})
    void whatPassesByItselfIsTransient(String state) {
        assertThat(Faults.isTransient(new RuntimeException(new SQLException("x", state))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"23505", "22001", "57014", "42P01", "25P02"})
    void whatComesAgainIsNot(String state) {
        assertThat(Faults.isTransient(new RuntimeException(new SQLException("x", state))))
                .isFalse();
    }

    @Test
    void aLostResourceManagerIsTransient() {
        assertThat(Faults.isTransient(new RuntimeException(new XAException(XAException.XAER_RMFAIL))))
                .isTrue();
    }

    @Test
    void aLoopOfCausesIsWalkedOnce() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);

        assertThat(Faults.isTransient(one)).isFalse();
        two.addSuppressed(new SQLException("x", "08006"));
        assertThat(Faults.isTransient(one)).isTrue();
    }

    @Test
    void theNextExceptionOfABatchCounts() {
        SQLException batch = new SQLException("batch", (String) null);
        batch.setNextException(new SQLException("x", "40P01"));

        assertThat(Faults.isTransient(batch)).isTrue();
    }
}
