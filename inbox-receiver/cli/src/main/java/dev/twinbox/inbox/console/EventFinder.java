package dev.twinbox.inbox.console;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.operator.CallLimits;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.console.search.SearchLimit;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.console.search.TopicSearch;
import dev.twinbox.inbox.console.Whereabouts.FoundRecord;
import dev.twinbox.inbox.jdbc.HandledRows;
import dev.twinbox.inbox.jdbc.ParkedPages;
import dev.twinbox.inbox.jdbc.ParkedTable;
import jakarta.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/** Answers where events are: in the tables, or on the topics. Nothing is changed. For one question. */
final class EventFinder {
    /** Most records that are read. */
    private static final int MOST_READ = 200_000;

    /** For all topics together. */
    private static final Duration TIME = Duration.ofSeconds(3);

    private static final int MOST_TOPICS = 10;

    /** One event can be parked for several handlers. */
    private static final int MOST_HANDLERS = 100;

    private final InboxDatabase database;
    private final @Nullable KafkaAccess kafka;
    private final CallLimits limits;
    private final EventQuery query;
    private final List<SearchedPlace> searched = new ArrayList<>();

    /** What the tables say of the question. */
    private record InTables(
            GroupFacts facts, List<ParkedEvent> parked, List<HandledRows.Handled> handled, Instant now) {
        private boolean hasFound() {
            return !parked.isEmpty() || !handled.isEmpty();
        }
    }

    /** @param kafka null: no brokers are configured */
    EventFinder(InboxDatabase database, @Nullable KafkaAccess kafka, CallLimits limits, EventQuery query) {
        this.database = database;
        this.kafka = kafka;
        this.limits = limits;
        this.query = query;
    }

    /** The answer about one event, in the document itself. */
    JsonObject one() {
        return withSearch(find().get(0).json());
    }

    /** The answer about several events. */
    JsonObject all() {
        return withSearch(new JsonText()
                .with("events", find().stream().map(Whereabouts::json).toList()));
    }

    private JsonObject withSearch(JsonText answer) {
        return answer.with(
                        "searched", searched.stream().map(SearchedPlace::json).toList())
                .with("isCut", searched.stream().anyMatch(SearchedPlace::isCut))
                .build();
    }

    private List<Whereabouts> find() {
        InTables tables = database.answer(limits, this::inTables);
        List<FoundRecord> records = new ArrayList<>();
        if (query.id() == null || !tables.hasFound()) {
            records.addAll(onTopics(tables));
        }
        List<HandledRows.Handled> handled = new ArrayList<>(tables.handled());
        Set<String> ids = ids(tables, records);
        if (query.id() == null && !ids.isEmpty()) {
            handled.addAll(database.answer(limits, connection -> handled(connection, tables.facts(), ids)));
        }
        return events(tables.parked(), handled, records);
    }

    private InTables inTables(Connection connection) throws SQLException {
        GroupFacts facts = GroupFacts.of(connection, database.inbox());
        String key = query.id() == null ? query.key() : null;
        ParkedPages.Found parked = new ParkedPages(database.inbox())
                .search(connection, query.id(), key, Math.max(query.most(), MOST_HANDLERS));
        searched.add(SearchedPlace.table(ParkedTable.name(database.inbox()).toString(), parked.read(), parked.isCut()));
        String id = query.id();
        List<HandledRows.Handled> handled = id == null ? List.of() : handled(connection, facts, Set.of(id));
        return new InTables(facts, parked.events(), handled, new HandledRows(database.inbox()).now(connection));
    }

    /** By the primary key, so that all rows are looked at. */
    private List<HandledRows.Handled> handled(Connection connection, GroupFacts facts, Collection<String> ids)
            throws SQLException {
        List<HandledRows.Handled> rows =
                new HandledRows(database.inbox()).find(connection, facts.names(), ids, MOST_READ);
        searched.add(SearchedPlace.table(database.inbox().toString(), rows.size(), rows.size() == MOST_READ));
        return rows;
    }

    private List<FoundRecord> onTopics(InTables tables) {
        KafkaAccess access = kafka;
        if (access == null) {
            searched.add(SearchedPlace.withProblem(
                    "topics", "no brokers are configured: set " + ConsoleConfig.KAFKA_PREFIX + "bootstrap.servers"));
            return List.of();
        }
        List<TopicRecord> records = new ArrayList<>();
        SearchLimit limit = new SearchLimit(MOST_READ, TIME, System::nanoTime);
        try (TopicSearch search = new TopicSearch(access, limit)) {
            for (String topic : topics(tables.facts())) {
                if (query.id() == null || records.isEmpty()) {
                    TopicSearch.Result result = search.on(new TopicSearch.Wanted(
                            topic,
                            query.key(),
                            query.id() == null ? Set.of() : Set.of(query.id()),
                            query.sentAfter(tables.now())));
                    searched.add(result.place());
                    records.addAll(result.records());
                }
            }
        }
        return records.isEmpty() ? List.of() : withGroups(records, tables.facts(), access);
    }

    private Collection<String> topics(GroupFacts facts) {
        if (query.topic() != null) {
            return List.of(query.topic());
        }
        Set<String> topics = facts.topics();
        if (topics.isEmpty()) {
            searched.add(SearchedPlace.withProblem("topics", "no handler is announced: name the topic"));
        } else if (topics.size() > MOST_TOPICS) {
            searched.add(SearchedPlace.withProblem(
                    "topics", topics.size() - MOST_TOPICS + " of them were not read: name the topic"));
        }
        return topics.stream().limit(MOST_TOPICS).toList();
    }

    /** Only groups whose handlers take the topic count. */
    private List<FoundRecord> withGroups(List<TopicRecord> records, GroupFacts facts, KafkaAccess access) {
        List<GroupLag> lags = List.of();
        try (KafkaGroups groups = new KafkaGroups(access)) {
            lags = groups.lags(facts.groupsOnKafka(), facts.offsets());
        } catch (KafkaException e) {
            searched.add(SearchedPlace.withProblem("groups", KafkaGroups.reason(e)));
        }
        List<FoundRecord> found = new ArrayList<>();
        for (TopicRecord each : records) {
            found.add(new FoundRecord(each, groups(lags, each, Boolean.FALSE), groups(lags, each, Boolean.TRUE)));
        }
        return found;
    }

    private static List<String> groups(List<GroupLag> lags, TopicRecord record, Boolean hasPassed) {
        return lags.stream()
                .filter(lag -> hasPassed.equals(lag.hasPassed(record.topic(), record.partition(), record.offset())))
                .map(GroupLag::group)
                .toList();
    }

    private static Set<String> ids(InTables tables, List<FoundRecord> records) {
        Set<String> ids = tables.parked().stream()
                .map(ParkedEvent::eventId)
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(LinkedHashSet::new));
        records.forEach(each -> ids.add(each.record().id()));
        return ids;
    }

    /** By id. Parked events without one are listed each for itself. The newest come first. */
    private List<Whereabouts> events(
            List<ParkedEvent> parked, List<HandledRows.Handled> handled, List<FoundRecord> records) {
        Map<String, Whereabouts> events = new LinkedHashMap<>();
        List<Whereabouts> all = new ArrayList<>();
        parked.forEach(each -> {
            String id = each.eventId();
            if (id == null) {
                all.add(new Whereabouts(null, List.of(each), List.of(), List.of()));
            } else {
                of(id, events).parked().add(each);
            }
        });
        for (int i = records.size() - 1; i >= 0; i--) {
            of(records.get(i).record().id(), events).records().add(records.get(i));
        }
        handled.forEach(each -> of(each.id(), events).handled().add(each));
        String id = query.id();
        if (id != null && events.isEmpty()) {
            of(id, events);
        }
        all.addAll(0, events.values());
        return all.stream().limit(query.most()).toList();
    }

    private static Whereabouts of(String id, Map<String, Whereabouts> events) {
        return events.computeIfAbsent(
                id, key -> new Whereabouts(key, new ArrayList<>(), new ArrayList<>(), new ArrayList<>()));
    }
}
