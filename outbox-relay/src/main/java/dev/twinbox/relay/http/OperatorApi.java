package dev.twinbox.relay.http;

import dev.twinbox.console.Access;
import dev.twinbox.console.Api;
import dev.twinbox.console.Json;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.Role;
import dev.twinbox.console.actions.ActionJson;
import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.console.actions.ActionsQuery;
import dev.twinbox.console.operator.ApiDocument;
import dev.twinbox.console.operator.CallLimits;
import dev.twinbox.console.operator.Payload;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.EventQuery;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedCauses;
import dev.twinbox.relay.jdbc.ParkedPayload;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.operator.CausesJson;
import dev.twinbox.relay.operator.EventAnswer;
import dev.twinbox.relay.operator.EventFinder;
import dev.twinbox.relay.operator.EventJson;
import dev.twinbox.relay.operator.OperatorActions;
import dev.twinbox.relay.operator.ParkedChange;
import dev.twinbox.relay.operator.ParkedJson;
import dev.twinbox.relay.operator.StatusReport;
import dev.twinbox.relay.operator.TopicsReport;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operations of the command line over HTTP. Each call has a connection of its own, as a command has. Like the
 * commands they only change rows; the relay that owns the lease sends.
 */
final class OperatorApi {
    private static final Logger LOG = LoggerFactory.getLogger(OperatorApi.class);

    private static final String PREFIX = "/api/v1";

    private interface Work {
        JsonObject on(Connection connection) throws SQLException;
    }

    private final RelayConfig config;
    private final CallLimits limits = new CallLimits("relay");

    private OperatorApi(RelayConfig config) {
        this.config = config;
    }

    /** The API of this relay. */
    static Api of(RelayConfig config, Access access, Health health) {
        OperatorApi operations = new OperatorApi(config);
        return new Api("relay", PREFIX, access)
                .withLogin()
                .get("/" + ApiDocument.NAME, Role.VISITOR, call -> document())
                .get("/process", Role.VISITOR, call -> health.process())
                .get("/status", Role.VISITOR, call -> operations.status())
                .get("/topics", Role.VISITOR, call -> operations.topics())
                .get("/events", Role.VISITOR, call -> operations.find(EventRequest.all(call), EventJson::all))
                .get("/events/{id}", Role.VISITOR, call -> operations.find(EventRequest.one(call), EventJson::one))
                .get("/parked", Role.VISITOR, operations::list)
                .get("/causes", Role.VISITOR, call -> operations.causes())
                .get("/parked/{number}", Role.VISITOR, operations::show)
                .get("/parked/{number}/payload", Role.READER, operations::payload)
                .post("/parked/retry", call -> operations.change(ParkedChange.RETRY, ParkedQuery.selection(call)))
                .post("/parked/discard", call -> operations.change(ParkedChange.DISCARD, ParkedQuery.selection(call)))
                .post("/parked/{number}/retry", call -> operations.change(ParkedChange.RETRY, ParkedQuery.one(call)))
                .post(
                        "/parked/{number}/discard",
                        call -> operations.change(ParkedChange.DISCARD, ParkedQuery.one(call)))
                .post("/pause", call -> operations.pause(TopicsRequest.of(call)))
                .post("/resume", call -> operations.resume(TopicsRequest.of(call)))
                .get("/resend", Role.VISITOR, call -> operations.resendJobs())
                .post("/resend", call -> operations.resend(ResendRequest.of(call)))
                .post("/resend/{number}/cancel", call -> operations.cancelResend(call.number("number")))
                .get("/actions", Role.VISITOR, operations::log);
    }

    /** The description of the API in OpenAPI 3.1. */
    static JsonObject document() {
        return Description.OPENAPI;
    }

    /** Read when it is first asked for, and once. */
    private static final class Description {
        private static final JsonObject OPENAPI = ApiDocument.read(OperatorApi.class);
    }

    private JsonObject status() {
        return onDatabase(connection -> StatusReport.of(config, connection, (label, value) -> {}));
    }

    private JsonObject topics() {
        return onDatabase(connection -> TopicsReport.of(config, connection).json());
    }

    private JsonObject find(EventQuery query, Function<EventAnswer, JsonObjectBuilder> json) {
        return limits.search(() -> onDatabase(connection ->
                json.apply(EventFinder.find(query, config, connection)).build()));
    }

    private JsonObject list(Api.Call call) {
        ParkedQuery query = ParkedQuery.of(call);
        return onDatabase(connection -> {
            List<ParkedRows.Line> lines =
                    rows(connection).page(query.selection(), query.state(), query.after(), query.limit());
            JsonArrayBuilder parked = Json.createArrayBuilder();
            lines.forEach(line -> parked.add(ParkedJson.line(line)));
            var page = Json.createObjectBuilder().add("parked", parked);
            if (lines.size() == query.limit()) {
                page.add("next", lines.get(lines.size() - 1).number());
            }
            return page.build();
        });
    }

    private JsonObject causes() {
        return onDatabase(connection -> CausesJson.of(ParkedCauses.of(connection, config.tables(), config.name())));
    }

    private JsonObject show(Api.Call call) {
        long number = call.number("number");
        return onDatabase(connection -> {
            ParkedRows.Details event = rows(connection).show(number);
            if (event == null) {
                throw gone(number);
            }
            return ParkedJson.details(event).build();
        });
    }

    private JsonObject payload(Api.Call call) {
        long number = call.number("number");
        if (!config.http().showsPayloads()) {
            throw new ProblemException(
                    403,
                    "Payloads are not shown: " + RelaySettings.HTTP.payloads().key() + "=false");
        }
        return onDatabase(connection -> {
            Payload payload = ParkedPayload.of(number, Payload.MOST_BYTES, connection, config.tables(), config.name());
            if (payload == null) {
                throw gone(number);
            }
            return payload.json(number);
        });
    }

    private static ProblemException gone(long number) {
        return new ProblemException(404, "There is no parked event " + number + ", or no longer: list them again");
    }

    private JsonObject change(ParkedChange change, ParkedQuery.Change wanted) {
        return onDatabase(connection -> {
            ParkedRows rows = rows(connection);
            OperatorActions actions = actions(connection);
            long number = wanted.isDryRun()
                    ? change.count(rows, wanted.selection())
                    : actions.change(change, wanted.selection());
            if (!wanted.isDryRun()) {
                LOG.info("{} has {} {} parked event(s) over HTTP", actions.who(), change.past(), number);
            }
            change.refuse(rows, wanted.selection());
            return Json.createObjectBuilder()
                    .add(change.past(), number)
                    .add("dryRun", wanted.isDryRun())
                    .build();
        });
    }

    private JsonObject pause(List<String> topics) {
        return onDatabase(connection -> {
            OperatorActions actions = actions(connection);
            if (!topics.isEmpty()) {
                actions.pauseTopics(topics);
                LOG.info("{} has paused topics over HTTP: {}", actions.who(), topics);
                return TopicsRequest.paused(
                        topics, new PausedTopicTable(connection, config.tables(), config.name()).topics());
            }
            actions.pause();
            LOG.info("{} has paused the relay over HTTP", actions.who());
            Instant since = new LeaseTable(connection, config.tables(), config.name()).pausedSince();
            return Json.createObjectBuilder()
                    .add("pausedSince", String.valueOf(since))
                    .build();
        });
    }

    private JsonObject resume(List<String> topics) {
        return onDatabase(connection -> {
            OperatorActions actions = actions(connection);
            if (!topics.isEmpty()) {
                Set<String> resumed = actions.resumeTopics(topics);
                LOG.info("{} has resumed topics over HTTP: {}", actions.who(), resumed);
                return TopicsRequest.resumed(topics, resumed);
            }
            boolean wasPaused = actions.resume();
            LOG.info("{} has resumed the relay over HTTP", actions.who());
            return Json.createObjectBuilder().add("wasPaused", wasPaused).build();
        });
    }

    private JsonObject resendJobs() {
        return onDatabase(connection -> ResendRequest.jobs(config, connection));
    }

    private JsonObject resend(ResendRequest wanted) {
        return limits.search(() -> onDatabase(connection -> wanted.run(config, connection, actions(connection))));
    }

    private JsonObject cancelResend(long number) {
        return onDatabase(connection -> {
            OperatorActions actions = actions(connection);
            boolean isCanceled = actions.cancelResend(number);
            LOG.info("{} has canceled job {} over HTTP: {}", actions.who(), number, isCanceled);
            return Json.createObjectBuilder().add("wasActive", isCanceled).build();
        });
    }

    private JsonObject log(Api.Call call) {
        ActionsQuery query = ActionsQuery.of(call);
        return onDatabase(connection -> ActionJson.page(
                new ActionLog(connection, config.tables().actions(), config.name()), query.before(), query.limit()));
    }

    /** Only this role may change anything, see {@link Api#post}. */
    private OperatorActions actions(Connection connection) {
        return OperatorActions.overHttp(Role.OPERATOR.name().toLowerCase(Locale.ROOT), config, connection);
    }

    private ParkedRows rows(Connection connection) {
        return new ParkedRows(connection, config.tables(), config.name());
    }

    private JsonObject onDatabase(Work work) {
        return limits.withConnection(() -> {
            try (Connection connection = new OutboxDatabase(config).connect()) {
                return work.on(connection);
            } catch (SQLException e) {
                throw new ProblemException(
                        503, String.valueOf(StartCheck.refusal(config, e).getMessage()));
            } catch (RelayException e) {
                throw new ProblemException(e.exitCode() == ExitCode.USAGE ? 409 : 503, String.valueOf(e.getMessage()));
            }
        });
    }
}
