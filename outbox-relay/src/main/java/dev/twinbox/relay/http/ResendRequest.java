package dev.twinbox.relay.http;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.operator.OperatorActions;
import dev.twinbox.relay.resend.ResendJson;
import dev.twinbox.relay.resend.ResendPreview;
import dev.twinbox.relay.resend.ResendRules;
import dev.twinbox.relay.resend.ResendTable;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a call wants to be sent again. */
record ResendRequest(SentEvents.Range range, boolean isDryRun) {
    private static final Logger LOG = LoggerFactory.getLogger(ResendRequest.class);

    private static final int MOST_JOBS = 20;

    private static final String DRY_RUN = "dryRun";

    /** From the body. */
    static ResendRequest of(Api.Call call) {
        JsonObject body = call.body();
        Parameters.refuseUnknown(body.keySet(), Set.of("from", "to", "topic", "key", DRY_RUN));
        JsonValue dryRun = body.getOrDefault(DRY_RUN, JsonValue.FALSE);
        boolean isDryRun = dryRun.equals(JsonValue.TRUE);
        if (!isDryRun && !dryRun.equals(JsonValue.FALSE)) {
            throw new ProblemException(400, "\"" + DRY_RUN + "\" must be true or false");
        }
        try {
            return new ResendRequest(
                    ResendRules.range(text(body, "from"), text(body, "to"), text(body, "topic"), text(body, "key")),
                    isDryRun);
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    private static @Nullable String text(JsonObject body, String name) {
        JsonValue value = body.get(name);
        if (value instanceof JsonString string) {
            return string.getString();
        }
        if (value instanceof JsonNumber number && number.isIntegral() && !name.equals("topic") && !name.equals("key")) {
            return number.toString();
        }
        if (value != null) {
            throw new ProblemException(400, "\"" + name + "\" must be a text");
        }
        return null;
    }

    /** The answer: what would be sent, and the number of the job if it is requested. */
    JsonObject run(RelayConfig config, Connection connection, OperatorActions actions) throws SQLException {
        ResendPreview preview = ResendPreview.of(config, connection, range);
        JsonObjectBuilder json = ResendJson.preview(preview).add(DRY_RUN, isDryRun);
        if (!isDryRun) {
            preview.refuseUnknownTopics(range);
            long job = actions.resend(range, preview.compacted());
            LOG.info("{} has requested job {} of \"resend\" over HTTP", actions.who(), job);
            json.add("job", job);
        }
        return json.build();
    }

    /** The newest jobs. */
    static JsonObject jobs(RelayConfig config, Connection connection) throws SQLException {
        return ResendJson.jobs(new ResendTable(connection, config.tables(), config.name()).latest(MOST_JOBS))
                .build();
    }
}
