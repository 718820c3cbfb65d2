package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.HandlerMethod;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.HandlerTable.Unowned;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells the other instances of the application which handlers this one has, and reports parked events of handlers that
 * no instance has.
 *
 * <p>{@link #announce} is called before the instance joins its group. An instance of another version that still reads
 * the topic then knows whom an event is for, see {@link UnknownTypes}.
 */
final class Announcements {

    private static final Logger LOG = System.getLogger(Announcements.class.getName());

    /** An instance counts as gone after 60 seconds. */
    private static final Duration INTERVAL = Duration.ofSeconds(20);

    /** A handler that has just gone may come back with the next deployment. */
    private static final Duration SHORTEST_KEEP = Duration.ofHours(1);

    private final String group;
    private final List<AnnouncedHandler> mine;
    private final HandlerTable table;
    private final @Nullable Duration keep;
    private final JtaDatabase database;
    private final ReceiverStatus status;

    /** Only the thread that retries uses these. */
    private long repeatAt = System.nanoTime();

    private Set<String> noted = Set.of();

    /**
     * @param group the group of the application; handlers of all contracts are announced in it
     * @param mine the handlers of this instance
     * @param keep how long the inbox keeps its rows; null: for ever
     */
    Announcements(
            String group,
            List<AnnouncedHandler> mine,
            HandlerTable table,
            @Nullable Duration keep,
            JtaDatabase database,
            ReceiverStatus status) {
        this.group = group;
        this.mine = mine;
        this.table = table;
        this.keep = keep == null || keep.compareTo(SHORTEST_KEEP) >= 0 ? keep : SHORTEST_KEEP;
        this.database = database;
        this.status = status;
    }

    /** The handlers, by each name that their types have or had. */
    static List<AnnouncedHandler> of(List<HandlerMethod> handlers) {
        return handlers.stream()
                .flatMap(handler -> Stream.concat(Stream.of(handler.type()), handler.aliases().stream())
                        .map(type -> new AnnouncedHandler(handler.topic(), type, handler.name(), handler.delivery())))
                .distinct()
                .toList();
    }

    List<AnnouncedHandler> mine() {
        return mine;
    }

    /** Returns after the commit. */
    void announce() throws SQLException {
        database.inTransaction(connection -> {
            table.announce(connection, group, mine);
            return true;
        });
    }

    /** Announces again if it is time, and looks for parked events that nobody takes. */
    void repeat() throws SQLException {
        if (System.nanoTime() - repeatAt < 0) {
            return;
        }
        List<Unowned> unowned = database.inTransaction(connection -> {
            table.announce(connection, group, mine);
            if (keep != null) {
                table.deleteOld(connection, group, keep);
            }
            return table.unowned(connection, group);
        });
        note(unowned);
        repeatAt = System.nanoTime() + INTERVAL.toNanos();
    }

    /** This is not a trouble: all other events are handled, and this instance cannot do better. */
    private void note(List<Unowned> unowned) {
        Set<String> subjects = new HashSet<>();
        for (Unowned events : unowned) {
            String subject = "parked events of handler " + events.handler() + " for type " + events.type();
            String text = text(events);
            subjects.add(subject);
            status.note(subject, text);
            if (!noted.contains(subject)) {
                LOG.log(Level.WARNING, text);
            }
        }
        noted.stream().filter(subject -> !subjects.contains(subject)).forEach(status::removeNote);
        noted = subjects;
    }

    private static String text(Unowned events) {
        return events.number() + " parked event(s) of handler " + events.handler() + " for type " + events.type()
                + " on topic " + events.topic() + " wait, but no running instance has this handler"
                + (events.seenAt() == null ? "" : " (last seen at " + events.seenAt() + ")")
                + ". Deploy it again. If it was renamed: twinbox-inbox-cli.jar parked hand-over --from "
                + events.handler() + " --to <new name>. If it is gone for good: parked discard --handler "
                + events.handler();
    }
}
