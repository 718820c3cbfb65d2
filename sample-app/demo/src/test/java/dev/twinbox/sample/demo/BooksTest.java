package dev.twinbox.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.sample.demo.Books.State;
import dev.twinbox.sample.demo.Books.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class BooksTest {

    private static final OrderEvent FIRST = new OrderEvent("a", 10, 1, 1);
    private static final OrderEvent SECOND = new OrderEvent("b", 11, 1, 2);
    private static final OrderEvent OTHER = new OrderEvent("c", 12, 2, 1);

    private final Books books = new Books();

    @Test
    void the_same_ids_in_all_books_are_exact() {
        commit(FIRST, SECOND, OTHER);
        appear(FIRST, OTHER, SECOND);
        books.shipped(List.of(FIRST, SECOND, OTHER));

        assertThat(books.compare().state()).isEqualTo(State.EXACT);
    }

    @Test
    void a_repeat_on_Kafka_is_no_fault() {
        commit(FIRST, SECOND);
        appear(FIRST, SECOND, FIRST);
        books.shipped(List.of(FIRST, SECOND));

        Verdict verdict = books.compare();
        assertThat(verdict.state()).isEqualTo(State.EXACT);
        assertThat(verdict.records()).isEqualTo(3);
        assertThat(verdict.distinct()).isEqualTo(2);
    }

    @Test
    void what_is_on_its_way_is_catching_up() {
        commit(FIRST, SECOND, OTHER);
        appear(FIRST, SECOND);
        books.shipped(List.of(FIRST));

        assertThat(books.compare().state()).isEqualTo(State.CATCHING_UP);
        assertThat(books.compare().reason()).startsWith("1 to send, 1 to ship");
    }

    @Test
    void equal_totals_of_different_ids_are_wrong() {
        commit(FIRST);
        appear(OTHER);
        books.shipped(List.of(OTHER));

        assertWrong("event c is on Kafka and was never committed");
    }

    @Test
    void an_order_without_its_event_is_wrong() {
        books.committed(Set.of(10L, 11L), List.of(FIRST));

        assertWrong("order 11 has no event");
    }

    @Test
    void an_event_of_an_order_that_was_rolled_back_is_wrong() {
        books.committed(Set.of(10L), List.of(FIRST, SECOND));

        assertWrong("an event tells of order 11, which does not exist");
    }

    @Test
    void an_event_of_a_customer_that_overtakes_or_misses_an_earlier_one_is_wrong() {
        commit(FIRST, SECOND);
        appear(SECOND);

        assertWrong("customer 1: order 2 came after order 0 on Kafka");
    }

    @Test
    void an_order_shipped_twice_is_wrong() {
        commit(FIRST);
        appear(FIRST, FIRST);
        books.shipped(List.of(FIRST, FIRST));

        assertWrong("order 10 was shipped twice");
    }

    @Test
    void a_shipment_that_skips_an_earlier_order_of_its_customer_is_wrong() {
        commit(FIRST, SECOND);
        appear(FIRST, SECOND);
        books.shipped(List.of(SECOND));

        assertWrong("customer 1: order 2 came after order 0 in shipping");
    }

    @Test
    void a_shipment_without_an_event_is_wrong() {
        commit(FIRST);
        books.shipped(List.of(FIRST));

        assertWrong("order 10 was shipped without an event on Kafka");
    }

    @Test
    void an_order_with_two_events_is_wrong() {
        books.committed(Set.of(10L), List.of(FIRST, new OrderEvent("again", 10, 1, 1)));

        assertWrong("order 10 has 2 events");
    }

    private void commit(OrderEvent... events) {
        books.committed(Arrays.stream(events).map(OrderEvent::orderId).collect(Collectors.toSet()), List.of(events));
    }

    private void appear(OrderEvent... events) {
        Arrays.stream(events).forEach(books::appeared);
    }

    private void assertWrong(String reason) {
        Verdict verdict = books.compare();
        assertThat(verdict.state()).isEqualTo(State.WRONG);
        assertThat(verdict.reason()).contains(reason);
    }
}
