package dev.twinbox.inbox.engine;

import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.event.UnreadableRecordException;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Decides what happens to events whose type no handler of this instance takes.
 *
 * <p>While an application is exchanged, instances of two versions are in one group. Each of them gets events that only
 * the other version can handle. Such an event is parked under the name of its handler. An instance that has the handler
 * takes it from there, in order of its key. An event is skipped only if no instance has announced a handler for it.
 *
 * <p>The table of announcements is asked each time. A version can come at any moment, and a cached answer would lose
 * events. Used by all workers.
 */
final class UnknownTypes {

    private static final Logger LOG = System.getLogger(UnknownTypes.class.getName());

    /** Most events that wait for one handler. It bounds the table if the other version never comes. */
    static final int MOST_WAITING = 10_000;

    private static final int MOST_NAMED_TYPES = 1000;

    private final String group;
    private final UnknownType rule;
    private final HandlerTable handlers;
    private final InboxTable inbox;
    private final Parking parking;
    private final JtaDatabase database;
    private final ReceiverStatus status;
    private final int mostWaiting;
    private final Set<String> namedTypes = ConcurrentHashMap.newKeySet();

    /**
     * @param rule what happens to events that no handler takes, of any instance
     * @param mostWaiting most events that wait for one handler
     */
    UnknownTypes(
            String group,
            UnknownType rule,
            HandlerTable handlers,
            InboxTable inbox,
            Parking parking,
            JtaDatabase database,
            ReceiverStatus status,
            int mostWaiting) {
        this.group = group;
        this.rule = rule;
        this.handlers = handlers;
        this.inbox = inbox;
        this.parking = parking;
        this.database = database;
        this.status = status;
        this.mostWaiting = mostWaiting;
    }

    /**
     * How far the caller may go.
     *
     * @param free how many events, from the first on, may be handled
     * @param whyHeld why the next one may not; null if there is none, or if it only follows the others
     */
    record Decision(int free, @Nullable IllegalStateException whyHeld) {}

    /** What one look at the tables says about the events. */
    private static final class Findings {
        final List<ReceivedEvent> nobodys = new ArrayList<>();
        final List<ReceivedEvent> unreadable = new ArrayList<>();
        final List<ReceivedEvent> decided = new ArrayList<>();
        final List<Delivery> parked = new ArrayList<>();

        @Nullable ReceivedEvent held;

        @Nullable IllegalStateException whyHeld;
    }

    /**
     * Parks or skips those of the events that are of an unknown type. None is parked before earlier events are handled:
     * the handler that it is parked for may handle those, too, under a former name of the type. Then the order of a key
     * holds for them.
     *
     * @param events of one partition
     */
    Decision decide(List<ReceivedEvent> events) throws SQLException {
        List<ReceivedEvent> unknown =
                events.stream().filter(ReceivedEvent::isUndecided).toList();
        if (unknown.isEmpty()) {
            return new Decision(events.size(), null);
        }
        Set<ReceivedEvent> before = events.stream()
                .takeWhile(event -> event.isUndecided() || event.handlers().isEmpty())
                .collect(Collectors.toSet());
        Findings findings = database.inTransaction(connection -> look(connection, unknown, before));
        findings.decided.forEach(ReceivedEvent::decided);
        parking.followed(findings.parked);
        findings.parked.forEach(this::report);
        for (ReceivedEvent event : findings.unreadable) {
            status.failed();
            parking.parkUnreadable(event);
        }
        for (ReceivedEvent event : findings.nobodys) {
            skip(event);
            event.decided();
        }
        return findings.held == null
                ? new Decision(events.size(), null)
                : new Decision(events.indexOf(findings.held), findings.whyHeld);
    }

    /** Runs in a transaction: the parked rows are committed with the answer. */
    private Findings look(Connection connection, List<ReceivedEvent> unknown, Set<ReceivedEvent> mayBeParked)
            throws SQLException {
        Map<String, List<AnnouncedHandler>> byType = find(connection, unknown);
        Findings findings = new Findings();
        Map<String, Integer> room = new HashMap<>();
        for (ReceivedEvent event : unknown) {
            List<AnnouncedHandler> takers = byType.get(event.typeOrNull());
            if (takers == null) {
                findings.nobodys.add(event);
                continue;
            }
            List<Handler> elsewhere = elsewhere(takers);
            if (!elsewhere.isEmpty()
                    && (!mayBeParked.contains(event)
                            || !park(connection, event.withHandlersElsewhere(elsewhere), room, findings))) {
                findings.held = event;
                break;
            }
            findings.decided.add(event);
        }
        return findings;
    }

    private Map<String, List<AnnouncedHandler>> find(Connection connection, List<ReceivedEvent> unknown)
            throws SQLException {
        Set<String> types = unknown.stream()
                .map(event -> String.valueOf(event.typeOrNull()))
                .collect(Collectors.toSet());
        String topic = unknown.get(0).record().topic();
        return handlers.find(connection, group, topic, types).stream()
                .collect(Collectors.groupingBy(AnnouncedHandler::type));
    }

    /** Nothing is parked for {@code AT_MOST_ONCE} handlers. Their own group reads the event. */
    private static List<Handler> elsewhere(List<AnnouncedHandler> takers) {
        return takers.stream()
                .filter(taker -> taker.delivery() != DeliveryContract.AT_MOST_ONCE)
                .map(taker -> Handler.elsewhere(taker.handler(), taker.delivery()))
                .toList();
    }

    /**
     * Parks the event for each of its handlers that has not handled it. Returns false if too many wait for one of them.
     */
    private boolean park(Connection connection, ReceivedEvent event, Map<String, Integer> room, Findings findings)
            throws SQLException {
        if (!event.isReadable()) {
            findings.unreadable.add(event);
            return true;
        }
        List<Delivery> open = new ArrayList<>();
        for (Handler handler : event.handlers()) {
            Delivery delivery = new Delivery(handler, event);
            if (!handler.claims() || !inbox.isKnown(connection, group, delivery)) {
                open.add(delivery);
            }
        }
        for (Delivery delivery : open) {
            String name = delivery.handler().name();
            Integer left = room.get(name);
            if (left == null) {
                left = mostWaiting - handlers.waiting(connection, group, name, mostWaiting);
            }
            if (left <= 0) {
                findings.whyHeld = tooMany(name);
                return false;
            }
            room.put(name, left - 1);
        }
        for (Delivery delivery : open) {
            parking.follow(connection, delivery);
        }
        findings.parked.addAll(open);
        return true;
    }

    private IllegalStateException tooMany(String handler) {
        return new IllegalStateException(mostWaiting + " events wait for handler " + handler
                + ", which this instance does not have, so the partition waits too. Deploy the version that has the"
                + " handler. If there is none any more: twinbox-inbox-cli.jar handlers retire " + handler
                + ", then parked hand-over or parked discard");
    }

    private void report(Delivery delivery) {
        ReceivedEvent event = delivery.event();
        String type = String.valueOf(event.typeOrNull());
        if (namedTypes.size() < MOST_NAMED_TYPES && namedTypes.add(type + " " + delivery.handler())) {
            LOG.log(
                    Level.INFO,
                    "Another instance of group {0} has handler {1} for events of type {2}; this one parks them for it",
                    group,
                    delivery.handler(),
                    type);
        }
    }

    private void skip(ReceivedEvent event) throws SQLException {
        if (rule == UnknownType.SKIP) {
            status.skipped(event);
        } else {
            status.failed();
            parking.parkWithoutHandler(event, noHandler(event));
        }
    }

    static UnreadableRecordException noHandler(ReceivedEvent event) {
        return new UnreadableRecordException(
                "no handler takes its type " + event.typeOrNull() + ": add a handler, or an alias to one");
    }

    /**
     * Parks an event anew for handlers of other instances. It was parked without a handler's name, because its type was
     * unknown then. Returns false if no instance has announced a handler for it.
     */
    boolean parkForOthers(DueEvent due, ReceivedEvent event) throws SQLException {
        List<Delivery> parked = database.inTransaction(connection -> {
            List<Delivery> deliveries = new ArrayList<>();
            List<AnnouncedHandler> takers =
                    find(connection, List.of(event)).getOrDefault(event.typeOrNull(), List.of());
            ReceivedEvent read = event.withHandlersElsewhere(elsewhere(takers));
            if (!read.isReadable()
                    || read.handlers().isEmpty()
                    || parking.table().lock(connection, due) == null) {
                return deliveries;
            }
            for (Handler handler : read.handlers()) {
                Delivery delivery = new Delivery(handler, read);
                parking.follow(connection, delivery);
                deliveries.add(delivery);
            }
            parking.table().remove(connection, due.number());
            return deliveries;
        });
        parking.followed(parked);
        return !parked.isEmpty();
    }
}
