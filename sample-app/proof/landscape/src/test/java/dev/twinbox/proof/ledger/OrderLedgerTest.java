package dev.twinbox.proof.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import dev.twinbox.proof.ledger.OrderLedger.Partitions;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OrderLedgerTest {

    private static final long CUSTOMER = 7;

    private final OrderLedger ledger = new OrderLedger(Partitions.GROWING);
    private long offset;
    private long shipment;

    @Test
    void told_once_and_shipped_once_is_exact() {
        tell(1, 0);
        tell(2, 0);
        order(1);
        order(2);
        ship(1);
        ship(2);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
        LedgerReport report = ledger.compareAtTheEnd();
        assertThat(report.isExact()).isTrue();
        assertThat(report.committed()).isEqualTo(2);
        assertThat(report.effects()).containsEntry("shipping", 2);
    }

    @Test
    void a_repeat_of_the_same_event_is_counted_and_no_fault() {
        order(1);
        tell(1, 0);
        tell(1, 0);
        ship(1);

        LedgerReport report = ledger.compareAtTheEnd();
        assertThat(report.isExact()).isTrue();
        assertThat(report.repeats()).isEqualTo(1);
    }

    @Test
    void an_order_that_is_neither_on_Kafka_nor_in_the_outbox_is_lost_when_the_next_look_shows_it_still() {
        order(1);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.LOST);
    }

    @Test
    void an_order_whose_event_waits_in_the_outbox_is_not_lost_until_the_end() {
        order(1);

        ledger.compare(Set.of(orderId(1)));
        assertThat(ledger.compare(Set.of(orderId(1))).faults()).isEmpty();
        assertThat(ledger.unsent()).isEqualTo(1);
        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.LOST);
    }

    @Test
    void an_order_that_arrives_between_two_looks_was_never_lost() {
        order(1);
        ledger.compare(Set.of());

        tell(1, 0);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
    }

    @Test
    void an_event_of_an_order_that_was_rolled_back_is_a_phantom() {
        tell(1, 0);

        ledger.compare(Set.of());
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.PHANTOM);
    }

    @Test
    void an_event_that_tells_of_an_order_that_took_the_number_of_a_rolled_back_one_is_a_phantom() {
        order(1);
        ledger.published(new OrderEvent(eventId(1), 999, CUSTOMER, 1), 0, offset++, 1);

        assertThat(ledger.compareAtTheEnd().faults(Kind.PHANTOM)).hasSize(1);
    }

    @Test
    void two_events_of_one_order_are_told() {
        order(1);
        tell(1, 0);
        ledger.published(new OrderEvent(eventId(2), orderId(1), CUSTOMER, 1), 0, offset++, 1);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.CHANGED);
    }

    @Test
    void a_repeat_with_other_content_is_told() {
        order(1);
        tell(1, 0);
        ledger.published(new OrderEvent(eventId(1), orderId(1), CUSTOMER, 1), 0, offset++, 2);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.CHANGED);
    }

    @Test
    void a_first_appearance_behind_a_later_event_of_the_partition_is_told() {
        order(1);
        order(2);
        tell(2, 0);
        tell(1, 0);

        ledger.compare(Set.of());
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.REORDERED);
    }

    @Test
    void events_of_different_partitions_have_no_order() {
        order(1);
        order(2);
        tell(2, 6);
        tell(1, 0);
        ship(2);
        ship(1);

        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();
    }

    @Test
    void what_looked_out_of_order_is_forgiven_when_it_is_a_repeat_from_another_partition() {
        order(1);
        order(2);
        tell(2, 0);
        tell(1, 0);
        tell(1, 6);
        ship(1);
        ship(2);

        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();
    }

    @Test
    void a_second_shipment_of_an_event_is_told_and_the_same_row_read_twice_is_not() {
        order(1);
        tell(1, 0);
        ship(1);
        shipment--;
        ship(1);
        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();

        ship(1);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.EFFECT_REPEATED);
    }

    @Test
    void a_shipment_behind_that_of_a_later_event_is_told() {
        order(1);
        order(2);
        tell(1, 0);
        tell(2, 0);
        ship(2);
        ship(1);

        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.REORDERED);
    }

    @Test
    void a_shipment_without_an_event_is_told() {
        order(1);
        ship(1);

        assertThat(ledger.compareAtTheEnd().faults(Kind.EFFECT_PHANTOM)).hasSize(1);
    }

    @Test
    void an_event_that_is_not_shipped_at_the_end_is_told() {
        order(1);
        tell(1, 0);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
        assertThat(ledger.unshipped()).isEqualTo(1);
        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.EFFECT_MISSING);
    }

    @Test
    void a_number_that_a_customer_left_out_is_told() {
        order(1);
        order(3);

        assertThat(ledger.compare(Set.of(orderId(1), orderId(3))).faults(Kind.LOST))
                .hasSize(1);
    }

    @Test
    void an_event_in_the_outbox_whose_order_does_not_exist_is_a_phantom() {
        order(1);

        ledger.compare(Set.of(orderId(1), orderId(2)));
        assertThat(ledger.compare(Set.of(orderId(1), orderId(2))).faults())
                .extracting(Fault::kind)
                .containsExactly(Kind.PHANTOM);
    }

    @Test
    void events_in_the_outbox_and_on_Kafka_are_counted_once() {
        order(1);
        order(2);
        tell(1, 0);

        ledger.compare(Set.of(orderId(1), orderId(2)));

        assertThat(ledger.events()).isEqualTo(2);
        assertThat(ledger.onKafka()).isEqualTo(1);
    }

    @Test
    void while_no_partition_is_added_an_event_on_Kafka_must_be_the_next_one_of_its_customer() {
        OrderLedger fixed = new OrderLedger(Partitions.FIXED);
        fixed.published(event(2), 0, 0, 1);
        fixed.ordered(CUSTOMER, 1, orderId(1));
        fixed.ordered(CUSTOMER, 2, orderId(2));

        assertThat(fixed.compare(Set.of(orderId(1), orderId(2))).faults())
                .extracting(Fault::what)
                .containsExactly("order 2 of customer 7 came after order 0 on Kafka");
    }

    @Test
    void while_no_partition_is_added_a_shipment_must_be_the_next_one_of_its_customer() {
        OrderLedger fixed = new OrderLedger(Partitions.FIXED);
        fixed.published(event(1), 0, 0, 1);
        fixed.published(event(2), 0, 1, 1);
        fixed.shipped(1, event(2));
        fixed.ordered(CUSTOMER, 1, orderId(1));
        fixed.ordered(CUSTOMER, 2, orderId(2));

        assertThat(fixed.compare(Set.of()).faults())
                .extracting(Fault::what)
                .containsExactly("order 2 of customer 7 came after order 0 in shipping");
    }

    private void order(long number) {
        ledger.ordered(CUSTOMER, number, orderId(number));
    }

    private void tell(long number, int partition) {
        ledger.published(event(number), partition, offset++, 1);
    }

    private void ship(long number) {
        ledger.shipped(++shipment, event(number));
    }

    private static OrderEvent event(long number) {
        return new OrderEvent(eventId(number), orderId(number), CUSTOMER, number);
    }

    private static long orderId(long number) {
        return 100 + number;
    }

    private static String eventId(long number) {
        return new UUID(1, number).toString();
    }
}
