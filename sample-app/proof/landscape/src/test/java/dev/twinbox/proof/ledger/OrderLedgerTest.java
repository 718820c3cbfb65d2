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
    void publishedOnceAndShippedOnceIsExact() {
        publish(1, 0);
        publish(2, 0);
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
    void aRepeatOfTheSameEventIsCountedAndNoFault() {
        order(1);
        publish(1, 0);
        publish(1, 0);
        ship(1);

        LedgerReport report = ledger.compareAtTheEnd();
        assertThat(report.isExact()).isTrue();
        assertThat(report.repeats()).isEqualTo(1);
    }

    @Test
    void anOrderThatIsNeitherOnKafkaNorInTheOutboxIsLostWhenTheNextLookShowsItStill() {
        order(1);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.LOST);
    }

    @Test
    void anOrderWhoseEventWaitsInTheOutboxIsNotLostUntilTheEnd() {
        order(1);

        ledger.compare(Set.of(orderId(1)));
        assertThat(ledger.compare(Set.of(orderId(1))).faults()).isEmpty();
        assertThat(ledger.unsent()).isEqualTo(1);
        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.LOST);
    }

    @Test
    void anOrderThatArrivesBetweenTwoLooksWasNeverLost() {
        order(1);
        ledger.compare(Set.of());

        publish(1, 0);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
    }

    @Test
    void anEventOfAnOrderThatWasRolledBackIsAPhantom() {
        publish(1, 0);

        ledger.compare(Set.of());
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.PHANTOM);
    }

    @Test
    void anEventThatTellsOfAnOrderThatTookTheNumberOfARolledBackOneIsAPhantom() {
        order(1);
        ledger.published(new OrderEvent(eventId(1), 999, CUSTOMER, 1), 0, offset++, 1);

        assertThat(ledger.compareAtTheEnd().faults(Kind.PHANTOM)).hasSize(1);
    }

    @Test
    void twoEventsOfOneOrderAreAFault() {
        order(1);
        publish(1, 0);
        ledger.published(new OrderEvent(eventId(2), orderId(1), CUSTOMER, 1), 0, offset++, 1);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.CHANGED);
    }

    @Test
    void aRepeatWithOtherContentIsAFault() {
        order(1);
        publish(1, 0);
        ledger.published(new OrderEvent(eventId(1), orderId(1), CUSTOMER, 1), 0, offset++, 2);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.CHANGED);
    }

    @Test
    void aFirstAppearanceBehindALaterEventOfThePartitionIsAFault() {
        order(1);
        order(2);
        publish(2, 0);
        publish(1, 0);

        ledger.compare(Set.of());
        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.REORDERED);
    }

    @Test
    void eventsOfDifferentPartitionsHaveNoOrder() {
        order(1);
        order(2);
        publish(2, 6);
        publish(1, 0);
        ship(2);
        ship(1);

        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();
    }

    @Test
    void whatLookedOutOfOrderIsForgivenWhenItIsARepeatFromAnotherPartition() {
        order(1);
        order(2);
        publish(2, 0);
        publish(1, 0);
        publish(1, 6);
        ship(1);
        ship(2);

        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();
    }

    @Test
    void aSecondShipmentOfAnEventIsAFaultAndTheSameRowReadTwiceIsNot() {
        order(1);
        publish(1, 0);
        ship(1);
        shipment--;
        ship(1);
        assertThat(ledger.compareAtTheEnd().isExact()).isTrue();

        ship(1);

        assertThat(ledger.compare(Set.of()).faults()).extracting(Fault::kind).containsExactly(Kind.EFFECT_REPEATED);
    }

    @Test
    void aShipmentBehindThatOfALaterEventIsAFault() {
        order(1);
        order(2);
        publish(1, 0);
        publish(2, 0);
        ship(2);
        ship(1);

        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.REORDERED);
    }

    @Test
    void aShipmentWithoutAnEventIsAFault() {
        order(1);
        ship(1);

        assertThat(ledger.compareAtTheEnd().faults(Kind.EFFECT_PHANTOM)).hasSize(1);
    }

    @Test
    void anEventThatIsNotShippedAtTheEndIsAFault() {
        order(1);
        publish(1, 0);

        assertThat(ledger.compare(Set.of()).faults()).isEmpty();
        assertThat(ledger.unshipped()).isEqualTo(1);
        assertThat(ledger.compareAtTheEnd().faults()).extracting(Fault::kind).containsExactly(Kind.EFFECT_MISSING);
    }

    @Test
    void aNumberThatACustomerLeftOutIsAFault() {
        order(1);
        order(3);

        assertThat(ledger.compare(Set.of(orderId(1), orderId(3))).faults(Kind.LOST))
                .hasSize(1);
    }

    @Test
    void anEventInTheOutboxWhoseOrderDoesNotExistIsAPhantom() {
        order(1);

        ledger.compare(Set.of(orderId(1), orderId(2)));
        assertThat(ledger.compare(Set.of(orderId(1), orderId(2))).faults())
                .extracting(Fault::kind)
                .containsExactly(Kind.PHANTOM);
    }

    @Test
    void eventsInTheOutboxAndOnKafkaAreCountedOnce() {
        order(1);
        order(2);
        publish(1, 0);

        ledger.compare(Set.of(orderId(1), orderId(2)));

        assertThat(ledger.events()).isEqualTo(2);
        assertThat(ledger.onKafka()).isEqualTo(1);
    }

    @Test
    void whileNoPartitionIsAddedAnEventOnKafkaMustBeTheNextOneOfItsCustomer() {
        OrderLedger fixed = new OrderLedger(Partitions.FIXED);
        fixed.published(event(2), 0, 0, 1);
        fixed.ordered(CUSTOMER, 1, orderId(1));
        fixed.ordered(CUSTOMER, 2, orderId(2));

        assertThat(fixed.compare(Set.of(orderId(1), orderId(2))).faults())
                .extracting(Fault::what)
                .containsExactly("order 2 of customer 7 came after order 0 on Kafka");
    }

    @Test
    void whileNoPartitionIsAddedAShipmentMustBeTheNextOneOfItsCustomer() {
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

    private void publish(long number, int partition) {
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
