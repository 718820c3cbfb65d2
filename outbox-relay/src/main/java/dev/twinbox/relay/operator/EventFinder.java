package dev.twinbox.relay.operator;

import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.console.search.SearchLimit;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.console.search.TopicSearch;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventQuery;
import dev.twinbox.relay.jdbc.EventSearch;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.jdbc.FoundEvent.Place;
import dev.twinbox.relay.kafka.KafkaLogin;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Answers where events are: in the tables, or on the topics. Nothing is changed. For one question. */
public final class EventFinder {
    /** Most rows that are read of each table, and most records. */
    private static final int MOST_READ = 200_000;

    /** For all topics together. */
    private static final Duration TIME = Duration.ofSeconds(3);

    /** An event that is in no table can be on any topic. */
    private static final int MOST_TOPICS = 10;

    private final RelayConfig config;
    private final EventQuery query;
    private final List<SearchedPlace> searched = new ArrayList<>();
    private final Map<String, List<TopicRecord>> records = new LinkedHashMap<>();

    private EventFinder(RelayConfig config, EventQuery query) {
        this.config = config;
        this.query = query;
    }

    /**
     * Where the events are.
     *
     * @param connection for this question only
     */
    public static EventAnswer find(EventQuery question, RelayConfig config, Connection connection) throws SQLException {
        EventQuery query = EventSearch.asOfNow(question, connection);
        EventFinder finder = new EventFinder(config, query);
        EventSearch tables = new EventSearch(connection, config.tables(), config.name(), query, MOST_READ);
        finder.searched.add(tables.inScheduled());
        finder.searched.add(tables.inEvents());
        finder.searched.add(tables.inParked());
        finder.searchTopics(tables.found(), tables.topics());
        return new EventAnswer(finder.events(tables.found()), List.copyOf(finder.searched));
    }

    private void searchTopics(List<FoundEvent> found, SortedSet<String> known) {
        SearchLimit limit = new SearchLimit(MOST_READ, TIME, System::nanoTime);
        try (TopicSearch search = new TopicSearch(access(), limit)) {
            for (TopicSearch.Wanted wanted : wanted(found, known)) {
                if (!isComplete()) {
                    TopicSearch.Result result = search.on(wanted);
                    searched.add(result.place());
                    result.records().forEach(this::add);
                }
            }
        }
    }

    private KafkaAccess access() {
        KafkaLogin login = KafkaLogin.of(config.kafka());
        return new KafkaAccess(
                config.kafka().settings(),
                "twinbox-relay-" + config.name() + "-search",
                login.principal(),
                login::explain);
    }

    private void add(TopicRecord each) {
        records.computeIfAbsent(each.id(), id -> new ArrayList<>()).add(each);
    }

    /** The one event has been found: the other topics need not be read. */
    private boolean isComplete() {
        return query.id() != null && !records.isEmpty();
    }

    private List<TopicSearch.Wanted> wanted(List<FoundEvent> found, SortedSet<String> known) {
        if (query.id() != null && found.stream().anyMatch(each -> each.place() == Place.PARKED)) {
            return List.of();
        }
        Set<String> topics = new LinkedHashSet<>();
        found.stream().filter(EventFinder::mayBeSent).map(FoundEvent::topic).forEach(topics::add);
        if (query.topic() != null && (query.id() == null || found.isEmpty())) {
            topics.add(query.topic());
        } else if (found.isEmpty()) {
            topics.addAll(known);
        }
        return topics.stream()
                .limit(MOST_TOPICS)
                .map(topic -> wanted(topic, found))
                .toList();
    }

    private static boolean mayBeSent(FoundEvent each) {
        return each.place() != Place.SCHEDULED;
    }

    private TopicSearch.Wanted wanted(String topic, List<FoundEvent> found) {
        List<FoundEvent> own = found.stream()
                .filter(each -> mayBeSent(each) && each.topic().equals(topic))
                .toList();
        Instant oldest = own.stream()
                .map(FoundEvent::occurredAt)
                .filter(Objects::nonNull)
                .min(Comparator.naturalOrder())
                .orElse(null);
        UUID id = query.id();
        String key = id == null || own.isEmpty() ? query.key() : own.get(0).key();
        return new TopicSearch.Wanted(
                topic, key, id == null ? Set.of() : Set.of(id.toString()), query.sentAfter(oldest));
    }

    private List<Whereabouts> events(List<FoundEvent> found) {
        Map<String, Whereabouts> events = new LinkedHashMap<>();
        List<Whereabouts> broken = new ArrayList<>();
        for (FoundEvent each : newestFirst(found)) {
            String id = each.id() == null ? null : each.id().toString();
            if (id == null) {
                broken.add(with(each, null, null));
            } else {
                events.put(id, with(each, id, events.get(id)));
            }
        }
        records.forEach((id, all) -> events.computeIfAbsent(id, absent -> new Whereabouts(id, null, null, all)));
        if (events.isEmpty() && query.id() != null) {
            String id = query.id().toString();
            events.put(id, new Whereabouts(id, null, null, List.of()));
        }
        List<Whereabouts> all = new ArrayList<>(events.values());
        all.addAll(broken);
        return all.stream().limit(query.most()).toList();
    }

    private static List<FoundEvent> newestFirst(List<FoundEvent> found) {
        Comparator<FoundEvent> byTime =
                Comparator.comparing(FoundEvent::occurredAt, Comparator.nullsFirst(Comparator.naturalOrder()));
        return found.stream().sorted(byTime.reversed()).toList();
    }

    /** An event that has been moved or parked since the search began is in two tables: the later one counts. */
    private Whereabouts with(FoundEvent found, @Nullable String id, @Nullable Whereabouts before) {
        FoundEvent row = before == null ? null : before.row();
        FoundEvent parked = before == null ? null : before.parked();
        if (found.place() == Place.PARKED) {
            parked = found;
        } else if (row == null || row.place() == Place.SCHEDULED) {
            row = found;
        }
        List<TopicRecord> own = id == null ? List.of() : records.getOrDefault(id, List.of());
        return new Whereabouts(id, row, parked, own);
    }
}
