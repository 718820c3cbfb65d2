package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.DeliveryContract;
import dev.twinbox.RetryLaterException;
import dev.twinbox.inbox.event.RetryRule.Kind;
import jakarta.ejb.EJBException;
import jakarta.ejb.EJBTransactionRolledbackException;
import jakarta.transaction.RollbackException;
import jakarta.transaction.TransactionalException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.UndeclaredThrowableException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RetryRuleTest {

    private static final FileNotFoundException NAMED = new FileNotFoundException("gone");

    @SafeVarargs
    @SuppressWarnings("varargs")
    private static Handler handler(Class<? extends Throwable>... notRetried) {
        return StrictHandler.of(
                "h", DeliveryContract.AT_LEAST_ONCE, MethodHandles.empty(Handler.CALL), Set.of(notRetried), Set.of());
    }

    private static Kind kind(Throwable thrown, Handler... handlers) {
        return RetryRule.of(thrown, List.of(handlers)).kind();
    }

    static Stream<Throwable> wrapped() {
        RollbackException atCommit = new RollbackException("marked for rollback");
        atCommit.initCause(NAMED);
        RollbackException ofResource = new RollbackException("a resource failed");
        ofResource.addSuppressed(NAMED);
        return Stream.of(
                NAMED,
                new IOException(NAMED),
                new EJBException(NAMED),
                new EJBTransactionRolledbackException("rolled back", NAMED),
                new EJBException("commit failed", atCommit),
                new EJBException("commit failed", ofResource),
                new TransactionalException("rolled back", NAMED),
                new UndeclaredThrowableException(NAMED),
                new IllegalStateException(new IllegalArgumentException(NAMED)));
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void aNamedExceptionAndItsSubclassesAreNotRetriedHoweverTheyAreWrapped(Throwable thrown) {
        assertThat(kind(thrown, handler(IOException.class))).isEqualTo(Kind.NEVER);
        assertThat(kind(thrown, handler(IllegalAccessException.class, IOException.class)))
                .isEqualTo(Kind.NEVER);
        assertThat(kind(thrown, handler(IllegalAccessException.class))).isEqualTo(Kind.AS_CONFIGURED);
        assertThat(kind(thrown, handler())).isEqualTo(Kind.AS_CONFIGURED);
    }

    @Test
    void aSuppressedExceptionDoesNotCount() {
        IllegalStateException thrown = new IllegalStateException();
        thrown.addSuppressed(NAMED);

        assertThat(kind(thrown, handler(IOException.class))).isEqualTo(Kind.AS_CONFIGURED);
    }

    /** They are runtime exceptions around what may not be one. */
    @Test
    void aWrapperOfTheContainerCountsOnlyIfItIsNamedItself() {
        EJBException timedOut = new EJBTransactionRolledbackException("timed out", new IOException());

        assertThat(kind(timedOut, handler(RuntimeException.class))).isEqualTo(Kind.AS_CONFIGURED);
        assertThat(kind(timedOut, handler(EJBException.class))).isEqualTo(Kind.NEVER);
        assertThat(kind(timedOut, handler(EJBTransactionRolledbackException.class)))
                .isEqualTo(Kind.NEVER);
        assertThat(kind(new EJBException(new IllegalStateException()), handler(RuntimeException.class)))
                .isEqualTo(Kind.NEVER);
    }

    /** An event that is parked without the name of a handler is given to all handlers of its type. */
    @Test
    void ofSeveralHandlersAllMustNameIt() {
        assertThat(kind(NAMED, handler(IOException.class), handler(Exception.class)))
                .isEqualTo(Kind.NEVER);
        assertThat(kind(NAMED, handler(IOException.class), handler())).isEqualTo(Kind.AS_CONFIGURED);
        assertThat(kind(NAMED)).isEqualTo(Kind.AS_CONFIGURED);
    }

    @Test
    void aHandlerThatAsksForADelayGetsItHoweverItIsWrapped() {
        RetryLaterException later = new RetryLaterException(Duration.ofMinutes(5), "busy", NAMED);
        RetryRule rule = new RetryRule(Kind.AFTER_DELAY, Duration.ofMinutes(5));

        assertThat(RetryRule.of(later, List.of(handler(Throwable.class)))).isEqualTo(rule);
        assertThat(RetryRule.of(new EJBException(later), List.of(handler(RuntimeException.class))))
                .isEqualTo(rule);
        assertThat(RetryRule.of(new IOException(later), List.of())).isEqualTo(rule);
    }

    /** An event would be tried again and again without a pause. */
    @Test
    void aTinyDelayIsTheShortestOne() {
        assertThat(RetryRule.of(new RetryLaterException(Duration.ofNanos(1)), List.of())
                        .delay())
                .isEqualTo(Duration.ofMillis(100));
        assertThat(RetryRule.of(new RetryLaterException(Duration.ofMillis(101)), List.of())
                        .delay())
                .isEqualTo(Duration.ofMillis(101));
    }

    @Test
    void aCycleOfCausesEnds() {
        Exception first = new Exception("first");
        first.initCause(new Exception("second", first));

        assertThat(kind(first, handler(IOException.class))).isEqualTo(Kind.AS_CONFIGURED);
    }

    /** It is about the event, not about what the handler needs. */
    @Test
    void fault118WhatIsNotRetriedDoesNotBreak() {
        Handler handler = StrictHandler.of(
                "h",
                DeliveryContract.AT_LEAST_ONCE,
                MethodHandles.empty(Handler.CALL),
                Set.of(FileNotFoundException.class),
                Set.of(IOException.class));

        assertThat(handler.breaksOn(new IOException())).isTrue();
        assertThat(handler.breaksOn(NAMED)).isFalse();
        assertThat(handler.breaksOn(new IOException(NAMED))).isFalse();
    }
}
