package dev.twinbox.proof.ledger;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Compares committed orders, events on Kafka and shipments while all of them grow. A million orders take about 120 MB.
 * The fixtures' {@code Ledger} is for tests that compare once, at the end, events of any kind.
 *
 * <p>The truth is the orders. Each order has one event. The event is on Kafka once or more, with the same id and
 * content.
 * It is shipped once. A customer's orders are numbered without gaps. The first appearances of a customer's events are
 * in
 * order within a partition. When a partition is added, events in different partitions have no order.
 *
 * <p>Each look enters shipments, records and orders, read in this order. So the cause of whatever was read is in what
 * is
 * read after it. What may look wrong only because an event is on its way is a fault if the next look still shows it.
 *
 * <p>One thread uses it.
 */
public final class OrderLedger {

    /** Whether the topic gets partitions while the ledger is kept. */
    public enum Partitions {
        /** All events of a customer are in one partition: each event on Kafka is the customer's next one. */
        FIXED,
        /** A customer's later events may be in another partition. */
        GROWING
    }

    private static final String HANDLER = "shipping";

    private final Partitions partitions;
    private final Map<Long, OrderAccount> accounts = new HashMap<>();
    private final List<Fault> faults = new ArrayList<>();

    /** By subject. Taken back if the event turns out to be in several partitions. */
    private final Map<String, Fault> disorder = new LinkedHashMap<>();

    private Set<String> suspectedBefore = Set.of();

    private long committed;
    private long records;
    private long repeats;
    private long onKafka;
    private long shipped;
    private long waiting;

    /** Where events of a customer have an order. */
    enum Place {
        ON_KAFKA("on Kafka"),
        IN_SHIPPING("in shipping");

        private final String text;

        Place(String text) {
            this.text = text;
        }
    }

    /** An empty ledger. */
    public OrderLedger(Partitions partitions) {
        this.partitions = partitions;
    }

    /** The number of the customer's last order that is known to be committed; 0 if none is. */
    public long lastOrder(long customer) {
        return account(customer).committed;
    }

    /** Enters a committed order; those of a customer in the order of their numbers. */
    public void ordered(long customer, long number, long orderId) {
        OrderAccount account = account(customer);
        if (number != account.committed + 1) {
            fault(
                    Kind.LOST,
                    "order " + orderId,
                    "is number " + number + " of its customer and follows " + account.committed);
        }
        account.committed = number;
        account.entry(number).orderId = orderId;
        committed++;
    }

    /** Enters the next record of a partition. */
    public void published(OrderEvent event, int partition, long offset, int contentHash) {
        records++;
        OrderAccount account = account(event.customerId());
        OrderAccount.Entry entry = account.entry(event.number());
        UUID id = UUID.fromString(event.id());
        if (entry.eventId == null) {
            onKafka++;
            entry.appeared(id, event.orderId(), partition, contentHash);
            follow(account, Place.ON_KAFKA, event, partition);
        } else {
            repeats++;
            repeated(entry, id, event, partition, contentHash, partition + "@" + offset);
        }
    }

    private void repeated(
            OrderAccount.Entry entry, UUID id, OrderEvent event, int partition, int contentHash, String place) {
        if (!id.equals(entry.eventId) || event.orderId() != entry.toldOrderId || contentHash != entry.contentHash) {
            fault(
                    Kind.CHANGED,
                    event.id(),
                    "at " + place + " differs from event " + entry.eventId + ", the event of the same "
                            + describe(event));
        }
        if (partition != entry.partition) {
            // It was sent again after its key had moved to an added partition. Between the two there is no order.
            entry.partition = OrderAccount.Entry.SEVERAL;
            for (Place each : Place.values()) {
                disorder.remove(each + event.id());
            }
        }
    }

    /**
     * Enters a shipment; those of a look in the order in which their transactions began.
     *
     * @param shipmentId the id of its row; a row that was entered before is ignored
     */
    public void shipped(long shipmentId, OrderEvent event) {
        OrderAccount account = account(event.customerId());
        OrderAccount.Entry entry = account.entry(event.number());
        if (entry.shipmentId == shipmentId) {
            return;
        }
        if (entry.shipmentId != 0) {
            fault(Kind.EFFECT_REPEATED, event.id(), "was handled twice: " + describe(event));
            return;
        }
        shipped++;
        entry.shipped(shipmentId, UUID.fromString(event.id()));
        if (entry.partition >= 0) {
            follow(account, Place.IN_SHIPPING, event, entry.partition);
        }
    }

    private void follow(OrderAccount account, Place place, OrderEvent event, int partition) {
        long before = account.last(place, partition);
        account.last(place, partition, Math.max(before, event.number()));
        String what = describe(event) + " came after order " + before + " " + place.text;
        if (partitions == Partitions.FIXED && event.number() != before + 1) {
            fault(Kind.REORDERED, event.id(), what);
        } else if (event.number() <= before) {
            disorder.put(
                    place + event.id(), new Fault(Kind.REORDERED, event.id(), what + ", in partition " + partition));
        }
    }

    /**
     * Ends a look.
     *
     * @param pending the ids of orders whose event is still in the outbox, or parked there
     * @return the faults so far; an event on its way is no fault
     */
    public LedgerReport compare(Set<Long> pending) {
        Map<String, Fault> suspected = new LinkedHashMap<>(disorder);
        Set<Long> withoutOrder = new HashSet<>(pending);
        waiting = 0;
        accounts.forEach((customer, account) -> account.forEach((number, entry) -> {
            suspectWithoutCause(customer, number, entry, suspected);
            withoutOrder.remove(entry.orderId);
            if (!entry.isUnsent()) {
                return;
            }
            if (pending.contains(entry.orderId)) {
                waiting++;
            } else {
                suspected.put(
                        "unsent " + entry.orderId,
                        lost(customer, number, entry, "and neither on Kafka nor in the outbox"));
            }
        }));
        withoutOrder.forEach(id -> suspected.put(
                "without order " + id,
                new Fault(Kind.PHANTOM, "order " + id, "has an event in the outbox and does not exist")));
        List<Fault> found = new ArrayList<>(faults);
        suspected.forEach((about, fault) -> {
            if (suspectedBefore.contains(about)) {
                found.add(fault);
            }
        });
        suspectedBefore = Set.copyOf(suspected.keySet());
        return report(found);
    }

    /** The comparison when no event is on its way any more: what is missing is lost. */
    public LedgerReport compareAtTheEnd() {
        Map<String, Fault> found = new LinkedHashMap<>(disorder);
        accounts.forEach((customer, account) -> account.forEach((number, entry) -> {
            suspectWithoutCause(customer, number, entry, found);
            if (entry.isUnsent()) {
                found.put("unsent " + entry.orderId, lost(customer, number, entry, "and not on Kafka"));
            } else if (entry.shipmentId == 0) {
                found.put(
                        "unshipped " + entry.eventId,
                        new Fault(
                                Kind.EFFECT_MISSING,
                                String.valueOf(entry.eventId),
                                "was not handled: " + describe(customer, number)));
            }
        }));
        List<Fault> all = new ArrayList<>(faults);
        all.addAll(found.values());
        return report(all);
    }

    private static void suspectWithoutCause(
            long customer, long number, OrderAccount.Entry entry, Map<String, Fault> suspected) {
        if (entry.eventId != null && entry.toldOrderId != entry.orderId) {
            suspected.put(
                    "phantom " + entry.eventId,
                    new Fault(
                            Kind.PHANTOM,
                            entry.eventId.toString(),
                            "is the event of " + describe(customer, number) + ", order id " + entry.toldOrderId
                                    + "; committed is order id " + entry.orderId + " (0: none)"));
        }
        if (entry.shipmentId != 0 && !entry.shippedFor.equals(entry.eventId)) {
            suspected.put(
                    "effect " + entry.shippedFor,
                    new Fault(
                            Kind.EFFECT_PHANTOM,
                            entry.shippedFor.toString(),
                            "was handled as " + describe(customer, number) + ", whose event on Kafka is "
                                    + entry.eventId));
        }
    }

    private static Fault lost(long customer, long number, OrderAccount.Entry entry, String where) {
        return new Fault(
                Kind.LOST, "order " + entry.orderId, "is committed as " + describe(customer, number) + " " + where);
    }

    private LedgerReport report(List<Fault> found) {
        return new LedgerReport(
                Math.toIntExact(committed), records, repeats, Map.of(HANDLER, Math.toIntExact(shipped)), found);
    }

    /** Events that the latest look showed, in the outbox or on Kafka. */
    public long events() {
        return onKafka + waiting;
    }

    /** Different events that the latest look showed on Kafka. */
    public long onKafka() {
        return onKafka;
    }

    /** Committed orders whose event was not on Kafka at the latest look. */
    public long unsent() {
        return committed - onKafka;
    }

    /** Events on Kafka that were not handled at the latest look. */
    public long unshipped() {
        return onKafka - shipped;
    }

    private void fault(Kind kind, String id, String what) {
        faults.add(new Fault(kind, id, what));
    }

    private static String describe(OrderEvent event) {
        return describe(event.customerId(), event.number());
    }

    private static String describe(long customer, long number) {
        return "order " + number + " of customer " + customer;
    }

    private OrderAccount account(long customer) {
        return accounts.computeIfAbsent(customer, id -> new OrderAccount());
    }
}
