package dev.twinbox.sample.demo;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The books of the sample side by side: orders and events (one snapshot of the first database), what Kafka holds, and
 * shipments (the second database). Compared id by id; equal totals prove nothing.
 *
 * <p>Whoever fills it reads shipments first, then Kafka, then orders and events: then each book holds at least what the
 * one read before it can know of, and an entry without its cause is an error, not a matter of timing.
 *
 * <p>One thread uses it.
 */
final class Books {

    private static final int FAULTS_NAMED = 3;

    private final Map<String, OrderEvent> committed = new HashMap<>();
    private final Set<String> onKafka = new HashSet<>();
    private final Map<Long, Long> lastOnKafka = new HashMap<>();
    private final List<String> faultsOnKafka = new ArrayList<>();
    private Set<Long> orders = Set.of();
    private List<OrderEvent> shipments = List.of();
    private long records;

    /**
     * Takes a snapshot of the first database.
     *
     * @param allOrders the ids of all orders
     * @param events at least the events that the last snapshot did not show
     */
    void committed(Set<Long> allOrders, Collection<OrderEvent> events) {
        orders = allOrders;
        events.forEach(event -> committed.put(event.id(), event));
    }

    /** Takes the next record of Kafka; those of one partition in their order. */
    void appeared(OrderEvent event) {
        records++;
        if (onKafka.add(event.id())) {
            follow(lastOnKafka, event, "on Kafka", faultsOnKafka);
        }
    }

    /** @param all all shipments, in the order in which they were handled */
    void shipped(List<OrderEvent> all) {
        shipments = all;
    }

    /** Compares. */
    Verdict compare() {
        List<String> faults = new ArrayList<>(faultsOnKafka);
        findOrdersWithoutEvent(faults);
        onKafka.stream()
                .filter(id -> !committed.containsKey(id))
                .forEach(id -> faults.add("event " + id + " is on Kafka and was never committed"));
        Set<String> shipped = checkShipments(faults);
        if (!faults.isEmpty()) {
            return verdict(State.WRONG, describe(faults));
        }
        int unsent = committed.size() - onKafka.size();
        int unshipped = onKafka.size() - shipped.size();
        if (unsent + unshipped > 0) {
            return verdict(
                    State.CATCHING_UP,
                    unsent + " to send, " + unshipped + " to ship; nothing lost, repeated or out of order");
        }
        return verdict(State.EXACT, "each order told once, shipped once, in order; compared id by id");
    }

    private void findOrdersWithoutEvent(List<String> faults) {
        Map<Long, Integer> told = new HashMap<>();
        committed.values().forEach(event -> told.merge(event.orderId(), 1, Integer::sum));
        told.forEach((order, times) -> {
            if (!orders.contains(order)) {
                faults.add("an event tells of order " + order + ", which does not exist");
            } else if (times > 1) {
                faults.add("order " + order + " has " + times + " events");
            }
        });
        orders.stream()
                .filter(order -> !told.containsKey(order))
                .forEach(order -> faults.add("order " + order + " has no event"));
    }

    private Set<String> checkShipments(List<String> faults) {
        Set<String> shipped = new HashSet<>();
        Map<Long, Long> last = new HashMap<>();
        for (OrderEvent shipment : shipments) {
            if (!shipped.add(shipment.id())) {
                faults.add("order " + shipment.orderId() + " was shipped twice");
            } else if (!onKafka.contains(shipment.id())) {
                faults.add("order " + shipment.orderId() + " was shipped without an event on Kafka");
            } else {
                follow(last, shipment, "in shipping", faults);
            }
        }
        return shipped;
    }

    /** A customer's orders are numbered without gaps, so the next one is known: another one is a loss or a wrong order. */
    private static void follow(Map<Long, Long> last, OrderEvent event, String place, List<String> faults) {
        long before = last.getOrDefault(event.customerId(), 0L);
        if (event.number() != before + 1) {
            faults.add("customer " + event.customerId() + ": order " + event.number() + " came after order " + before
                    + " " + place);
        }
        last.put(event.customerId(), Math.max(before, event.number()));
    }

    private static String describe(List<String> faults) {
        String named = String.join("; ", faults.subList(0, Math.min(FAULTS_NAMED, faults.size())));
        int more = faults.size() - FAULTS_NAMED;
        return more > 0 ? named + "; and " + more + " more" : named;
    }

    private Verdict verdict(State state, String reason) {
        return new Verdict(state, orders.size(), committed.size(), records, onKafka.size(), shipments.size(), reason);
    }

    /** How the books stand to each other. */
    enum State {
        /** Same ids everywhere. */
        EXACT,
        /** Something is on its way, and nothing is wrong with what has arrived. */
        CATCHING_UP,
        /** Something is lost, repeated, invented or out of order. */
        WRONG
    }

    /**
     * What a comparison found.
     *
     * @param events committed events
     * @param records on Kafka, repeats included
     * @param distinct different events on Kafka
     * @param reason for a reader of the page
     */
    record Verdict(State state, long orders, long events, long records, long distinct, long shipments, String reason) {

        Verdict withState(State other, String otherReason) {
            return new Verdict(other, orders, events, records, distinct, shipments, otherReason);
        }
    }
}
