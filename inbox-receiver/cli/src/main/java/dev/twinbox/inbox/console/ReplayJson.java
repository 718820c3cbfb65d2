package dev.twinbox.inbox.console;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.jdbc.ReplayTable;
import jakarta.json.JsonNumber;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Replays in calls and answers. */
public final class ReplayJson {
    private static final String DRY_RUN = "dryRun";
    private static final String AGAIN = "again";
    private static final String PARTITION = "partition";
    private static final Set<String> KNOWN =
            Set.of("topic", "handler", "group", PARTITION, "from", "to", "key", AGAIN, DRY_RUN);

    private ReplayJson() {}

    /** What a call wants. */
    record Wanted(ReplaySelection selection, boolean isDryRun) {}

    /** From the body. */
    static Wanted of(Api.Call call) {
        JsonObject body = call.body();
        Parameters.refuseUnknown(body.keySet(), KNOWN);
        try {
            return new Wanted(
                    ReplaySelection.of(
                            text(body, "topic"),
                            text(body, "handler"),
                            text(body, "group"),
                            partition(body),
                            bound(body, "from"),
                            bound(body, "to"),
                            text(body, "key"),
                            flag(body, AGAIN) ? ReplaySelection.Known.AGAIN : ReplaySelection.Known.SKIPPED),
                    flag(body, DRY_RUN));
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    private static @Nullable String text(JsonObject body, String name) {
        JsonValue value = body.get(name);
        if (value != null && !(value instanceof JsonString)) {
            throw new ProblemException(400, "\"" + name + "\" must be a text");
        }
        return value instanceof JsonString text ? text.getString() : null;
    }

    /** An offset may be a number. */
    private static @Nullable String bound(JsonObject body, String name) {
        return body.get(name) instanceof JsonNumber number ? number.toString() : text(body, name);
    }

    private static @Nullable Integer partition(JsonObject body) {
        JsonValue value = body.get(PARTITION);
        if (value == null) {
            return null;
        }
        if (value instanceof JsonNumber number
                && number.isIntegral()
                && number.toString().matches("\\d{1,9}")) {
            return number.intValue();
        }
        throw new ProblemException(400, "\"" + PARTITION + "\" must be a whole number, from 0 on");
    }

    private static boolean flag(JsonObject body, String name) {
        JsonValue value = body.getOrDefault(name, JsonValue.FALSE);
        if (!value.equals(JsonValue.TRUE) && !value.equals(JsonValue.FALSE)) {
            throw new ProblemException(400, "\"" + name + "\" must be true or false");
        }
        return value.equals(JsonValue.TRUE);
    }

    /**
     * The answer to a request, or to a dry run.
     *
     * @param job its number; null: nothing is requested
     * @param warnings empty: none
     */
    public static JsonObject planned(ReplayPlan plan, @Nullable Long job, List<String> warnings) {
        ReplayTable.Request request = plan.request();
        return new JsonText()
                .with("job", job)
                .with(DRY_RUN, job == null)
                .with("group", request.group())
                .with("handler", request.handler())
                .with("topic", request.topic())
                .with(AGAIN, request.isAgain())
                .with("records", plan.records())
                .with(
                        "partitions",
                        request.partitions().stream().map(ReplayJson::partition).toList())
                .with("notes", plan.notes())
                .with("warnings", warnings.isEmpty() ? null : warnings)
                .build();
    }

    private static JsonText partition(Partition part) {
        return new JsonText()
                .with(PARTITION, part.number())
                .with("from", part.from())
                .with("to", part.to())
                .with("next", part.next());
    }

    /** The list of jobs. */
    public static JsonObject jobs(List<ReplayJob> jobs) {
        return new JsonText()
                .with("jobs", jobs.stream().map(ReplayJson::job).toList())
                .build();
    }

    static JsonText job(ReplayJob job) {
        return new JsonText()
                .with("job", job.number())
                .with("state", job.state().text())
                .with("group", job.group())
                .with("handler", job.handler())
                .with("topic", job.topic())
                .with("from", job.from())
                .with("to", job.to())
                .with("key", job.key())
                .with(AGAIN, job.isAgain())
                .with(
                        "partitions",
                        job.partitions().stream().map(ReplayJson::partition).toList())
                .with("offsets", job.offsets())
                .with("left", job.left())
                .with("handled", job.counts().handled())
                .with("skipped", job.counts().skipped())
                .with("parked", job.counts().parked())
                .with("unreadable", job.counts().unreadable())
                .with("gone", job.counts().gone())
                .with("error", job.error())
                .with("requestedAt", job.requestedAt())
                .with("endedAt", job.endedAt());
    }

    /** The answer to a cancel. */
    public static JsonObject canceled(long job, boolean wasActive, List<String> warnings) {
        return new JsonText()
                .with("job", job)
                .with("wasActive", wasActive)
                .with("warnings", warnings.isEmpty() ? null : warnings)
                .build();
    }
}
