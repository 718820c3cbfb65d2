package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.AlreadyDoneException;
import java.sql.SQLException;
import java.util.List;
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

    @ParameterizedTest
    @ValueSource(strings = {"22001", "22021", "23505", "23514", "54000"})
    void whatTheEventIsToBlameForIsBadData(String state) {
        assertThat(Faults.isBadData(new RuntimeException(new SQLException("x", state))))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "42P01", "42501", "40001", "57014", "53300", ""})
    void whatTheDatabaseIsToBlameForIsNot(String state) {
        assertThat(Faults.isBadData(new RuntimeException(new SQLException("x", state))))
                .isFalse();
    }

    @Test
    void whatIsNoFaultOfADatabaseIsNone() {
        assertThat(Faults.isTransient(new IllegalStateException("08006"))).isFalse();
        assertThat(Faults.isTransient(new SQLException("no state"))).isFalse();
        assertThat(Faults.isTransient(new XAException(XAException.XA_RBROLLBACK)))
                .isFalse();
        assertThat(Faults.isBadData(new IllegalStateException("22001"))).isFalse();
    }

    @Test
    void whatOnlyAnOperatorMendsIsFoundAtTheBottom() {
        for (String state : List.of("28P01", "3D000", "3F000", "42P01", "42501")) {
            assertThat(Faults.needsAnOperator(new Exception(new Exception(new SQLException("x", state)))))
                    .as(state)
                    .isTrue();
        }
        assertThat(Faults.needsAnOperator(new Exception(new SQLException("x", "55P03"))))
                .isFalse();
        assertThat(Faults.needsAnOperator(new Exception(new SQLException("x", "08006"))))
                .isFalse();
        assertThat(Faults.needsAnOperator(new IllegalStateException("28P01"))).isFalse();
    }

    @Test
    void doneAlreadyIsFoundHoweverTheContainerWrapsIt() {
        assertThat(Faults.isAlreadyDone(new RuntimeException(new AlreadyDoneException("paid twice"))))
                .isTrue();
        assertThat(Faults.isAlreadyDone(new RuntimeException("paid twice"))).isFalse();
    }
}
