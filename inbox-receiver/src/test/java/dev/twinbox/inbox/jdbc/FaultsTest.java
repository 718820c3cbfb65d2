package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.jdbc.FailureSubject;
import java.sql.SQLException;
import javax.transaction.xa.XAException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FaultsTest {

    @ParameterizedTest
    @ValueSource(strings = {"08006", "08001", "57P01", "57P03", "25006"})
    void aLostConnectionIsFoundAtTheBottom(String state) {
        assertThat(subject(new RuntimeException(new SQLException("x", state)))).isEqualTo(FailureSubject.CONNECTION);
    }

    @ParameterizedTest
    @ValueSource(strings = {"22001", "22021", "23505", "23514", "54000"})
    void whatTheEventIsToBlameForIsAboutTheEvent(String state) {
        assertThat(subject(new RuntimeException(new SQLException("x", state)))).isEqualTo(FailureSubject.EVENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"28P01", "3D000", "3F000", "42P01", "42501"})
    void whatOnlyAnOperatorMendsIsAboutTheConfiguration(String state) {
        assertThat(subject(new Exception(new Exception(new SQLException("x", state)))))
                .isEqualTo(FailureSubject.CONFIGURATION);
    }

    @Test
    void whatIsNoFaultOfADatabaseIsAboutNothingKnown() {
        assertThat(subject(new IllegalStateException("08006"))).isEqualTo(FailureSubject.UNKNOWN);
        assertThat(subject(new SQLException("no state"))).isEqualTo(FailureSubject.UNKNOWN);
        assertThat(subject(new SQLException("raised by a trigger", "P0001"))).isEqualTo(FailureSubject.UNKNOWN);
        assertThat(subject(new XAException(XAException.XA_RBROLLBACK))).isEqualTo(FailureSubject.UNKNOWN);
    }

    @Test
    void aLostResourceManagerIsALostConnection() {
        assertThat(subject(new RuntimeException(new XAException(XAException.XAER_RMFAIL))))
                .isEqualTo(FailureSubject.CONNECTION);
    }

    @Test
    void theValuesCountMoreThanTheConnectionThatBreaksAfterThem() {
        Exception both = new Exception(new SQLException("x", "22021"));
        both.addSuppressed(new XAException(XAException.XAER_RMFAIL));

        assertThat(subject(both)).isEqualTo(FailureSubject.EVENT);
    }

    @Test
    void aLoopOfCausesIsWalkedOnce() {
        Exception one = new Exception("one");
        Exception two = new Exception("two", one);
        one.initCause(two);

        assertThat(subject(one)).isEqualTo(FailureSubject.UNKNOWN);
        two.addSuppressed(new SQLException("x", "08006"));
        assertThat(subject(one)).isEqualTo(FailureSubject.CONNECTION);
    }

    @Test
    void theNextExceptionOfABatchCounts() {
        SQLException batch = new SQLException("batch", (String) null);
        batch.setNextException(new SQLException("x", "40P01"));

        assertThat(Faults.isConflict(batch)).isTrue();
        assertThat(Faults.isConflict(new SQLException("x", "55P03"))).isFalse();
    }

    /** A pool that gives up has none. */
    @Test
    void fault121WhatHasNoStateIsTemporaryUnlessADatabaseHasAnswered() {
        SQLException gaveUp = new SQLException("no connection within 30 s");

        assertThat(Faults.isTemporary(new RuntimeException(gaveUp))).isTrue();
        assertThat(Faults.isTemporary(new SQLException("pool", new SQLException("x", "08001"))))
                .isTrue();
        assertThat(Faults.isTemporary(new SQLException("batch", new SQLException("x", "22001"))))
                .isFalse();
        assertThat(Faults.isTemporary(new SQLException("raised by a trigger", "P0001")))
                .isFalse();
        assertThat(Faults.isTemporary(new IllegalStateException())).isFalse();
    }

    @Test
    void aServerThatOnlyReadsIsFound() {
        assertThat(Faults.isReadOnly(new RuntimeException(new SQLException("x", "25006"))))
                .isTrue();
        assertThat(Faults.isReadOnly(new RuntimeException(new SQLException("x", "25P02"))))
                .isFalse();
    }

    @Test
    void doneAlreadyIsFoundHoweverTheContainerWrapsIt() {
        assertThat(Faults.isAlreadyDone(new RuntimeException(new AlreadyDoneException("paid twice"))))
                .isTrue();
        assertThat(Faults.isAlreadyDone(new RuntimeException("paid twice"))).isFalse();
    }

    private static FailureSubject subject(Throwable thrown) {
        return Faults.subjectOf(thrown);
    }
}
