package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.OutboxEvent;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReturnTypeTest {

    record Event() {}

    sealed interface Family permits One, Two {}

    record One() implements Family {}

    record Two() implements Family {}

    abstract static class Open {}

    @SuppressWarnings("unused")
    interface Methods<T extends Event> {
        Event event();

        List<Event> list();

        ArrayList<? extends Event> wildcard();

        Set<T> variable();

        Stream<Event> stream();

        Optional<Event> optional();

        OutboxEvent complete();

        Collection<OutboxEvent> completeOnes();

        Optional<Object> unknown();

        byte[] bytes();

        void nothing();

        Void noValue();

        long number();

        Integer boxed();

        String text();

        Event[] array();

        List<T>[] genericArray();

        List<List<Event>> nested();

        Future<Event> future();

        IntStream ints();

        Iterable<Event> iterable();

        Thread.State state();
    }

    @ParameterizedTest
    @ValueSource(strings = {"event", "list", "wildcard", "variable", "stream", "optional"})
    void theEventClassIsFound(String method) {
        assertThat(of(method)).isEqualTo(new ReturnType(ReturnType.Shape.EVENT, Event.class));
    }

    @Test
    void completeEventsAndRawBytesAreToldApart() {
        assertThat(of("complete").shape()).isEqualTo(ReturnType.Shape.COMPLETE);
        assertThat(of("completeOnes").shape()).isEqualTo(ReturnType.Shape.COMPLETE);
        assertThat(of("bytes").shape()).isEqualTo(ReturnType.Shape.EVENT);
        assertThat(of("unknown")).isEqualTo(new ReturnType(ReturnType.Shape.EVENT, Object.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "nothing",
                "noValue",
                "number",
                "boxed",
                "text",
                "array",
                "genericArray",
                "nested",
                "future",
                "ints",
                "iterable",
                "state"
            })
    void whatIsNoEventIsUnsupported(String method) {
        assertThat(of(method).shape()).isEqualTo(ReturnType.Shape.UNSUPPORTED);
    }

    @Test
    void theClassesOfASealedFamilyAreKnownAndThoseOfAnOpenOneAreNot() {
        assertThat(ReturnType.concreteClasses(Family.class)).containsExactly(One.class, Two.class);
        assertThat(ReturnType.concreteClasses(Event.class)).containsExactly(Event.class);
        assertThat(ReturnType.concreteClasses(Open.class)).isEmpty();
        assertThat(ReturnType.concreteClasses(Iterator.class)).isEmpty();
        assertThat(ReturnType.concreteClasses(Object.class)).isEmpty();
    }

    private static ReturnType of(String name) {
        Method method = Arrays.stream(Methods.class.getDeclaredMethods())
                .filter(m -> m.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return ReturnType.of(method.getGenericReturnType());
    }
}
