package dev.twinbox.proof.ledger;

import dev.twinbox.proof.ledger.OrderLedger.Place;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** All orders of a customer. */
final class OrderAccount {

    private final List<Entry> entries = new ArrayList<>();
    private final Map<Integer, Long> lastOnKafka = new HashMap<>();
    private final Map<Integer, Long> lastShipped = new HashMap<>();

    /** The number of the last order that is known to be committed; 0 if none is. */
    long committed;

    Entry entry(long number) {
        while (entries.size() < number) {
            entries.add(new Entry());
        }
        return entries.get((int) number - 1);
    }

    /** The highest number that was seen in a partition; 0 if none was. */
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

    /** Takes a customer's orders. */
    interface EntryVisitor {
        void visit(long number, Entry entry);
    }

    /** One order in all three places; 0 and null stand for what was not seen yet. */
    static final class Entry {

        /** Instead of a partition: the event is in more than one. */
        static final int SEVERAL = -2;

        private static final int NOWHERE = -1;
        private static final UUID NONE = new UUID(0, 0);

        long orderId;
        long toldOrderId;

        @Nullable UUID eventId;

        int partition = NOWHERE;
        int contentHash;
        long shipmentId;
        UUID shippedFor = NONE;

        void appeared(UUID id, long told, int where, int hash) {
            eventId = id;
            toldOrderId = told;
            partition = where;
            contentHash = hash;
        }

        void shipped(long shipment, UUID id) {
            shipmentId = shipment;
            // One object for both: a ledger of millions consists of them.
            shippedFor = eventId != null && eventId.equals(id) ? eventId : id;
        }

        boolean isUnsent() {
            return orderId != 0 && eventId == null;
        }
    }
}
