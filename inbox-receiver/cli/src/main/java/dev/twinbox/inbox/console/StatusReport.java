package dev.twinbox.inbox.console;

import dev.twinbox.console.operator.CallLimits;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.inbox.jdbc.HandledRows;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.RetentionTable;
import jakarta.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * How the receivers of one inbox stand. What cannot be read is not known, and the report says why.
 *
 * @param tables null: not known
 * @param facts null: not known
 * @param effects of the last hour
 * @param lags of the groups on Kafka, or what the database remembers of them
 * @param missing topics, each with what the operator can do
 * @param databaseUnknown why the database could not be read; null: it was
 * @param kafkaUnknown why Kafka could not be asked; null: it was
 */
record StatusReport(
        @Nullable TableStatus tables,
        @Nullable GroupFacts facts,
        List<HandledRows.Effects> effects,
        List<GroupLag> lags,
        SortedMap<String, String> missing,
        @Nullable String databaseUnknown,
        @Nullable String kafkaUnknown) {
    private static final String NO_GROUPS = "the groups are in the database, which could not be read";

    /** What is read of the database. */
    private record Read(TableStatus tables, GroupFacts facts, List<HandledRows.Effects> effects) {
        private static Read of(Connection connection, InboxDatabase database) throws SQLException {
            GroupFacts facts = GroupFacts.of(connection, database.inbox());
            return new Read(
                    TableStatus.of(connection, database.inbox()), facts, facts.effects(connection, database.inbox()));
        }
    }

    /**
     * As of now. First the database is read, then Kafka is asked.
     *
     * @param kafka null: no brokers are configured
     */
    static StatusReport of(InboxDatabase database, @Nullable KafkaAccess kafka, CallLimits limits) {
        return limits.withConnection(() -> {
            try {
                return withKafka(database.run(connection -> Read.of(connection, database)), kafka);
            } catch (SQLException e) {
                String reason = InboxDatabase.explain(e, database.inbox());
                return new StatusReport(null, null, List.of(), List.of(), new TreeMap<>(), reason, NO_GROUPS);
            }
        });
    }

    private static StatusReport withKafka(Read read, @Nullable KafkaAccess access) {
        GroupFacts facts = read.facts();
        List<GroupLag> lags = remembered(facts);
        SortedMap<String, String> missing = new TreeMap<>();
        String unknown = null;
        if (access == null) {
            unknown = "no brokers are configured: set " + ConsoleConfig.KAFKA_PREFIX + "bootstrap.servers";
        } else {
            try (KafkaGroups kafka = new KafkaGroups(access)) {
                lags = kafka.lags(facts.groupsOnKafka(), facts.offsets());
                missing.putAll(kafka.missing(facts.topics()));
            } catch (KafkaException e) {
                unknown = KafkaGroups.reason(e);
            }
        }
        return new StatusReport(read.tables(), facts, read.effects(), lags, missing, null, unknown);
    }

    private static List<GroupLag> remembered(GroupFacts facts) {
        return facts.groups().stream()
                .map(group -> GroupLag.unknown(
                        group,
                        facts.offsets().stream()
                                .filter(row -> row.group().equals(group))
                                .map(StatusReport::partition)
                                .toList()))
                .toList();
    }

    private static GroupLag.Partition partition(OffsetTable.Row row) {
        return new GroupLag.Partition(row.topic(), row.partition(), null, row.next(), null);
    }

    /** As one document. */
    JsonObject json() {
        JsonText json = new JsonText();
        if (tables != null) {
            tables.json().build().forEach((name, value) -> json.with(name, value));
        }
        json.with("groups", lags.stream().map(GroupLag::json).toList());
        if (facts != null) {
            json.with("handlers", facts.handlers().stream().map(HandlerJson::of).toList())
                    .with(
                            "retention",
                            facts.retention().stream().map(StatusReport::json).toList());
        }
        return json.with("effects", effects.stream().map(StatusReport::json).toList())
                .with("troubles", troubles())
                .with("databaseUnknown", databaseUnknown)
                .with("kafkaUnknown", kafkaUnknown)
                .build();
    }

    private static JsonText json(RetentionTable.Row row) {
        return new JsonText()
                .with("group", row.group())
                .with("doneTo", row.doneTo())
                .with("sweptAt", row.sweptAt());
    }

    private static JsonText json(HandledRows.Effects effects) {
        return new JsonText()
                .with("group", effects.group())
                .with("handler", effects.handler())
                .with("lastHour", effects.events())
                .with("lastAt", effects.lastAt())
                .with("isCut", effects.isCut());
    }

    private List<String> troubles() {
        List<String> troubles = new ArrayList<>();
        if (databaseUnknown != null) {
            troubles.add("the database cannot be read: " + databaseUnknown);
        }
        if (kafkaUnknown != null) {
            troubles.add("lag is not known: " + kafkaUnknown);
        }
        if (tables != null && facts != null) {
            troubles.addAll(Troubles.of(tables, facts));
        }
        missing.forEach((topic, remedy) -> troubles.add("topic " + topic + " is missing: " + remedy));
        lags.stream()
                .filter(each -> each.problem() != null)
                .forEach(each -> troubles.add("lag of group " + each.group() + " is not known: " + each.problem()));
        return troubles;
    }
}
