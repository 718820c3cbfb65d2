package dev.twinbox.inbox.console;

import dev.twinbox.ParkedEvent;
import dev.twinbox.SchemaException;
import dev.twinbox.console.Access;
import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.Role;
import dev.twinbox.console.actions.ActionJson;
import dev.twinbox.console.actions.ActionsQuery;
import dev.twinbox.console.operator.ApiDocument;
import dev.twinbox.console.operator.CallLimits;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.console.operator.Payload;
import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.ParkedCauses;
import dev.twinbox.inbox.jdbc.ParkedPages;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.SelectedRows;
import jakarta.json.JsonObject;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations of the command line over HTTP, with the shapes of the relay's API. Each call has a connection of its
 * own, as a command has. Like the commands they only change rows; the running application acts.
 */
final class ReceiverApi {
    private static final Logger LOG = LoggerFactory.getLogger(ReceiverApi.class);

    private static final String PREFIX = "/api/v1";

    private final InboxDatabase database;
    private final @Nullable KafkaAccess kafka;
    private final boolean showsPayloads;
    private final CallLimits limits = new CallLimits("console");

    private ReceiverApi(InboxDatabase database, @Nullable KafkaAccess kafka, boolean showsPayloads) {
        this.database = database;
        this.kafka = kafka;
        this.showsPayloads = showsPayloads;
    }

    /**
     * The API of one inbox.
     *
     * @param config its brokers, and whether payloads are shown
     */
    static Api of(InboxDatabase database, ConsoleConfig config, Access access) {
        ReceiverApi operations = new ReceiverApi(
                database, config.kafka(), config.address().http().showsPayloads());
        JsonObject document = ApiDocument.read(ReceiverApi.class);
        return new Api("console", PREFIX, access)
                .withLogin()
                .get("/" + ApiDocument.NAME, Role.VISITOR, call -> document)
                .get("/status", Role.VISITOR, call -> operations.status())
                .get("/handlers", Role.VISITOR, operations::handlers)
                .get("/events", Role.VISITOR, call -> operations.find(EventQuery.all(call), Answer.SEVERAL))
                .get("/events/{id}", Role.VISITOR, call -> operations.find(EventQuery.one(call), Answer.ONE))
                .get("/parked", Role.VISITOR, operations::list)
                .get("/causes", Role.VISITOR, call -> operations.causes())
                .get("/parked/{number}", Role.VISITOR, operations::show)
                .get("/parked/{number}/payload", Role.READER, operations::payload)
                .post("/parked/retry", call -> operations.change(ParkedChange.RETRY, ParkedQuery.several(call)))
                .post("/parked/discard", call -> operations.change(ParkedChange.DISCARD, ParkedQuery.several(call)))
                .post("/parked/{number}/retry", call -> operations.change(ParkedChange.RETRY, ParkedQuery.one(call)))
                .post(
                        "/parked/{number}/discard",
                        call -> operations.change(ParkedChange.DISCARD, ParkedQuery.one(call)))
                .post("/pause", call -> operations.pause(PauseJson.of(call)))
                .post("/resume", call -> operations.resume(PauseJson.of(call)))
                .get("/replay", Role.VISITOR, call -> operations.replays())
                .post("/replay", call -> operations.replay(ReplayJson.of(call)))
                .post("/replay/{number}/cancel", operations::cancelReplay)
                .get("/actions", Role.VISITOR, operations::log);
    }

    private enum Answer {
        ONE,
        SEVERAL
    }

    private JsonObject status() {
        return StatusReport.of(database, kafka, limits).json();
    }

    private JsonObject handlers(Api.Call call) {
        Parameters.refuseUnknown(call.query().keySet(), Set.of("group"));
        String group = call.query().get("group");
        return database.answer(
                limits,
                connection -> new JsonText()
                        .with(
                                "handlers",
                                HandlerTable.of(database.inbox()).list(connection, group).stream()
                                        .map(HandlerJson::of)
                                        .toList())
                        .build());
    }

    private JsonObject find(EventQuery query, Answer answer) {
        return limits.search(() -> {
            EventFinder finder = new EventFinder(database, kafka, limits, query);
            return answer == Answer.ONE ? finder.one() : finder.all();
        });
    }

    private JsonObject list(Api.Call call) {
        ParkedQuery query = ParkedQuery.of(call);
        return database.answer(limits, connection -> {
            List<ParkedEvent> events =
                    pages().page(connection, query.selection(), query.state(), query.after(), query.limit());
            boolean isFull = events.size() == query.limit();
            return new JsonText()
                    .with("parked", events.stream().map(ParkedJson::line).toList())
                    .with("next", isFull ? events.get(events.size() - 1).number() : null)
                    .build();
        });
    }

    private JsonObject causes() {
        return database.answer(limits, connection -> CausesJson.of(ParkedCauses.of(connection, database.inbox())));
    }

    private JsonObject show(Api.Call call) {
        long number = call.number("number");
        return database.answer(limits, connection -> {
            ParkedEvent event = pages().find(connection, number);
            ParkedPages.Value value = pages().value(connection, number, 0);
            if (event == null || value == null) {
                throw gone(number);
            }
            return ParkedJson.details(event)
                    .with("valueBytes", value.beginning() == null ? null : value.bytes())
                    .build();
        });
    }

    private JsonObject payload(Api.Call call) {
        long number = call.number("number");
        if (!showsPayloads) {
            throw new ProblemException(
                    403,
                    "Payloads are not shown: " + ConsoleConfig.HTTP.payloads().key() + "=false");
        }
        return database.answer(limits, connection -> {
            ParkedPages.Value value = pages().value(connection, number, Payload.MOST_BYTES);
            if (value == null) {
                throw gone(number);
            }
            return new Payload(value.bytes(), value.beginning()).json(number);
        });
    }

    private ParkedPages pages() {
        return new ParkedPages(database.inbox());
    }

    private static ProblemException gone(long number) {
        return new ProblemException(404, "There is no parked event " + number + ", or no longer: list them again");
    }

    private JsonObject change(ParkedChange change, ParkedQuery.Change wanted) {
        return database.answer(limits, connection -> {
            List<String> warnings = new ArrayList<>(change.warnings(connection, database.inbox(), wanted.selection()));
            if (wanted.isDryRun()) {
                long number = change.count(connection, new SelectedRows(database.inbox()), wanted.selection());
                return changed(change, number, wanted, warnings);
            }
            OperatorActions actions = OperatorActions.overHttp(who(), connection, database.inbox());
            if (actions.warning() != null) {
                warnings.add(actions.warning());
            }
            long number = actions.change(change, wanted.selection());
            LOG.info("{} has {} {} parked event(s) over HTTP", who(), change.past(), number);
            return changed(change, number, wanted, warnings);
        });
    }

    private static JsonObject changed(
            ParkedChange change, long number, ParkedQuery.Change wanted, List<String> warnings) {
        return new JsonText()
                .with(change.past(), number)
                .with("dryRun", wanted.isDryRun())
                .with("warnings", warnings.isEmpty() ? null : warnings)
                .build();
    }

    private JsonObject pause(PauseSelection which) {
        return steer((change, warnings) -> {
            List<PausedTable.Row> paused = change.pause(which);
            LOG.info("{} has paused over HTTP: {}", who(), paused);
            warnings.addAll(change.warnings());
            return PauseJson.paused(paused, warnings);
        });
    }

    private JsonObject resume(PauseSelection which) {
        return steer((change, warnings) -> {
            Set<String> topics = change.resumeTopics(which);
            Set<String> handlers = change.resumeHandlers(which);
            LOG.info("{} has resumed over HTTP: topics {}, handlers {}", who(), topics, handlers);
            return PauseJson.resumed(which, topics, handlers, warnings);
        });
    }

    /** Pauses or resumes. The warnings go into the answer. */
    private interface Steering {
        JsonObject run(PauseChange change, List<String> warnings) throws SQLException;
    }

    private JsonObject steer(Steering steering) {
        return operate((connection, actions, warnings) ->
                steering.run(new PauseChange(connection, database.inbox(), actions), warnings));
    }

    /** Steers the application. The warnings go into the answer. */
    private interface Operation {
        JsonObject run(Connection connection, OperatorActions actions, List<String> warnings) throws SQLException;
    }

    private JsonObject operate(Operation operation) {
        return database.answer(limits, connection -> {
            OperatorActions actions = OperatorActions.overHttp(who(), connection, database.inbox());
            List<String> warnings = new ArrayList<>();
            if (actions.warning() != null) {
                warnings.add(actions.warning());
            }
            try {
                return operation.run(connection, actions, warnings);
            } catch (SchemaException | IllegalArgumentException e) {
                throw new ProblemException(409, String.valueOf(e.getMessage()));
            } catch (KafkaException e) {
                throw new ProblemException(503, KafkaGroups.reason(e));
            }
        });
    }

    private JsonObject replays() {
        return database.answer(limits, connection -> ReplayJson.jobs(ReplayChange.jobs(connection, database.inbox())));
    }

    private JsonObject replay(ReplayJson.Wanted wanted) {
        return limits.search(() -> operate((connection, actions, warnings) -> {
            ReplayPlan plan = ReplayPlan.of(connection, database.inbox(), kafka, wanted.selection());
            if (wanted.isDryRun()) {
                return ReplayJson.planned(plan, null, List.of());
            }
            long job = new ReplayChange(connection, database.inbox(), actions).request(plan);
            LOG.info("{} has requested job {} of \"replay\" over HTTP", who(), job);
            return ReplayJson.planned(plan, job, warnings);
        }));
    }

    private JsonObject cancelReplay(Api.Call call) {
        long job = call.number("number");
        Parameters.refuseUnknown(call.body().keySet(), Set.of());
        return operate((connection, actions, warnings) -> {
            boolean wasActive = new ReplayChange(connection, database.inbox(), actions).cancel(job);
            LOG.info("{} has canceled job {} of \"replay\" over HTTP, active: {}", who(), job, wasActive);
            return ReplayJson.canceled(job, wasActive, warnings);
        });
    }

    private JsonObject log(Api.Call call) {
        ActionsQuery query = ActionsQuery.of(call);
        return database.answer(
                limits,
                connection -> ActionJson.page(
                        OperatorActions.log(connection, database.inbox()), query.before(), query.limit()));
    }

    /** Only this role may change anything, see {@link Api#post}. */
    private static String who() {
        return Role.OPERATOR.name().toLowerCase(Locale.ROOT);
    }
}
