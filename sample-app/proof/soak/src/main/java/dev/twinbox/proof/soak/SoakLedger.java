package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import dev.twinbox.proof.landscape.OrderEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The orders that were committed, what Kafka holds and what was shipped, side by side while all of it grows; a million orders take
 * about 120 MB. The fixtures' {@code Ledger} compares once, and keys that stay in one partition.
 *
 * <p>The truth is the orders, not the events: an order is told of by one event, on Kafka once or more with the same id and content,
 * and is shipped once because of that event. A customer's orders are numbered without gaps. The first appearances of a customer's
 * events are in order within a partition; between partitions, when one was added, they have no order.
 *
 * <p>Each look enters shipments, records and orders, read in this order: then whatever is there has its cause in what was read
 * after it. What can look wrong only because something is on its way is a fault when the next look shows it still.
 *
 * <p>One thread uses it.
 */
final class SoakLedger {

    private static final String HANDLER = "shipping";

    private final Map<Long, Account> accounts = new HashMap<>();
    private final List<Fault> faults = new ArrayList<>();

    /** By what each is about: taken back if its event turns out to be in several partitions. */
    private final Map<String, Fault> disorder = new LinkedHashMap<>();

    private Set<String> suspectedBefore = Set.of();

    private long committed;
    private long records;
    private long repeats;
    private long onKafka;
    private long shipped;

    /** Where events of a customer have an order. */
    private enum Place {
        ON_KAFKA,
        IN_SHIPPING
    }

    /** The number of the customer's last order that is known to be committed; 0 if none is. */
    long lastOrder(long customer) {
        return account(customer).committed;
    }

    /** Enters a committed order; those of a customer in the order of their numbers. */
    void ordered(long customer, long number, long orderId) {
        Account account = account(customer);
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
    void published(OrderEvent event, int partition, long offset, int contentHash) {
        records++;
        Account account = account(event.customerId());
        Entry entry = account.entry(event.number());
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

    private void repeated(Entry entry, UUID id, OrderEvent event, int partition, int contentHash, String place) {
        if (!id.equals(entry.eventId) || event.orderId() != entry.toldOrderId || contentHash != entry.contentHash) {
            fault(
                    Kind.CHANGED,
                    event.id(),
                    "at " + place + " differs from event " + entry.eventId + ", which tells of the same "
                            + describe(event));
        }
        if (partition != entry.partition) {
            // Sent again after its key had moved to a partition that was added: between the two there is no order.
            entry.partition = Entry.SEVERAL;
            for (Place each : Place.values()) {
                disorder.remove(each + event.id());
            }
        }
    }

    /**
     * Enters a shipment; those of a look in the order in which their transactions began.
     *
     * @param shipmentId that of its row, by which one that was entered before is known
     */
    void shipped(long shipmentId, OrderEvent event) {
        Account account = account(event.customerId());
        Entry entry = account.entry(event.number());
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

    private void follow(Account account, Place place, OrderEvent event, int partition) {
        long before = account.last(place, partition);
        if (event.number() > before) {
            account.last(place, partition, event.number());
        } else {
            String what = place == Place.ON_KAFKA ? "first appears in partition " + partition : "is shipped";
            disorder.put(
                    place + event.id(),
                    new Fault(Kind.REORDERED, event.id(), describe(event) + " " + what + " behind order " + before));
        }
    }

    /**
     * Ends a look.
     *
     * @param pending the ids of orders whose event is still in the outbox, or set aside there
     * @return the faults so far; what is merely on its way is none
     */
    LedgerReport compare(Set<Long> pending) {
        Map<String, Fault> suspected = new LinkedHashMap<>(disorder);
        accounts.forEach((customer, account) -> account.forEach((number, entry) -> {
            suspectWithoutCause(customer, number, entry, suspected);
            if (entry.isUnsent() && !pending.contains(entry.orderId)) {
                suspected.put(
                        "unsent " + entry.orderId,
                        lost(customer, number, entry, "and neither on Kafka nor in the outbox"));
            }
        }));
        List<Fault> found = new ArrayList<>(faults);
        suspected.forEach((about, fault) -> {
            if (suspectedBefore.contains(about)) {
                found.add(fault);
            }
        });
        suspectedBefore = Set.copyOf(suspected.keySet());
        return report(found);
    }

    /** The comparison when nothing is on its way any more: whatever is not there is lost. */
    LedgerReport compareAtTheEnd() {
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

    private static void suspectWithoutCause(long customer, long number, Entry entry, Map<String, Fault> suspected) {
        if (entry.eventId != null && entry.toldOrderId != entry.orderId) {
            suspected.put(
                    "phantom " + entry.eventId,
                    new Fault(
                            Kind.PHANTOM,
                            entry.eventId.toString(),
                            "tells of " + describe(customer, number) + " as order id " + entry.toldOrderId
                                    + "; committed is " + entry.orderId + " (0: none)"));
        }
        if (entry.shipmentId != 0 && !entry.shippedFor.equals(entry.eventId)) {
            suspected.put(
                    "effect " + entry.shippedFor,
                    new Fault(
                            Kind.EFFECT_PHANTOM,
                            entry.shippedFor.toString(),
                            "was handled as " + describe(customer, number) + ", of which event " + entry.eventId
                                    + " on Kafka tells"));
        }
    }

    private static Fault lost(long customer, long number, Entry entry, String where) {
        return new Fault(
                Kind.LOST, "order " + entry.orderId, "is committed as " + describe(customer, number) + " " + where);
    }

    private LedgerReport report(List<Fault> found) {
        return new LedgerReport(
                Math.toIntExact(committed), records, repeats, Map.of(HANDLER, Math.toIntExact(shipped)), found);
    }

    /** Committed orders whose event was not on Kafka at the latest look. */
    long unsent() {
        return committed - onKafka;
    }

    /** Events on Kafka that were not handled at the latest look. */
    long unshipped() {
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

    private Account account(long customer) {
        return accounts.computeIfAbsent(customer, id -> new Account());
    }

    /** All orders of a customer. */
    private static final class Account {

        private final List<Entry> entries = new ArrayList<>();
        private final Map<Integer, Long> lastOnKafka = new HashMap<>();
        private final Map<Integer, Long> lastShipped = new HashMap<>();
        private long committed;

        Entry entry(long number) {
            while (entries.size() < number) {
                entries.add(new Entry());
            }
            return entries.get((int) number - 1);
        }

        long last(Place place, int partition) {
            return lasts(place).getOrDefault(partition, 0L);
        }

        void last(Place place, int partition, long number) {
            lasts(place).put(partition, number);
        }

        private Map<Integer, Long> lasts(Place place) {
            return place == Place.ON_KAFKA ? lastOnKafka : lastShipped;
        }

        void forEach(EntryVisitor visitor) {
            for (int i = 0; i < entries.size(); i++) {
                visitor.visit(i + 1L, entries.get(i));
            }
        }
    }

    /** Takes a customer's orders. */
    private interface EntryVisitor {
        void visit(long number, Entry entry);
    }

    /** One order in all books; 0 and null stand for what was not seen yet. */
    private static final class Entry {

        private static final int NOWHERE = -1;
        private static final int SEVERAL = -2;
        private static final UUID NONE = new UUID(0, 0);

        private long orderId;
        private long toldOrderId;
        private @Nullable UUID eventId;
        private int partition = NOWHERE;
        private int contentHash;
        private long shipmentId;
        private UUID shippedFor = NONE;

        void appeared(UUID id, long told, int where, int hash) {
            eventId = id;
            toldOrderId = told;
            partition = where;
            contentHash = hash;
        }

        void shipped(long shipment, UUID id) {
            shipmentId = shipment;
            // One object for both, which is what a ledger of millions consists of.
            shippedFor = eventId != null && eventId.equals(id) ? eventId : id;
        }

        boolean isUnsent() {
            return orderId != 0 && eventId == null;
        }
    }
}
