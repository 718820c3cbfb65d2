package dev.twinbox.relay.http;

import dev.twinbox.config.Secret;
import dev.twinbox.console.Json;
import dev.twinbox.relay.engine.Progress;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The relay's health, in the JSON of MicroProfile Health. Live means that restarting the process would not help. Ready
 * means that events are sent, or would be if there were any; DOWN names the cause.
 */
public final class Health {

    public enum Status {
        UP,
        DOWN
    }

    /** @param data text for the operator, with the cause when DOWN */
    private record Check(String name, Status status, Map<String, String> data) {
        static Check of(String name, @Nullable String cause, Map<String, String> data) {
            Map<String, String> all = new LinkedHashMap<>(data);
            if (cause != null) {
                all.put("cause", Secret.masked(cause));
            }
            return new Check(name, cause == null ? Status.UP : Status.DOWN, all);
        }
    }

    /** All checks of one request. The report is DOWN if one of them is. */
    public record Report(List<Check> checks) {

        public Status status() {
            return checks.stream().allMatch(check -> check.status() == Status.UP) ? Status.UP : Status.DOWN;
        }

        /** The format of MicroProfile Health 4.0, section 3.2. */
        public JsonObject json() {
            JsonArrayBuilder array = Json.createArrayBuilder();
            for (Check check : checks) {
                JsonObjectBuilder data = Json.createObjectBuilder();
                check.data().forEach(data::add);
                array.add(Json.createObjectBuilder()
                        .add("name", check.name())
                        .add("status", check.status().name())
                        .add("data", data));
            }
            return Json.createObjectBuilder()
                    .add("status", status().name())
                    .add("checks", array)
                    .build();
        }
    }

    private final Progress progress;
    private final Duration timeout;

    /**
     * Checks nothing before it is asked.
     *
     * @param timeout how long the relay may make no progress and still count as ready
     */
    public Health(Progress progress, Duration timeout) {
        this.progress = progress;
        this.timeout = timeout;
    }

    public Report live() {
        return new Report(List.of(loop(progress.loopEnds().reasonsToRestart())));
    }

    public Report ready() {
        return new Report(List.of(loop(progress.loopEnds().troubles()), database(), lease(), kafka(), movement()));
    }

    /** What this process does, and the checks of {@link #ready}. Neither database nor Kafka is asked. */
    JsonObject process() {
        JsonObjectBuilder json = Json.createObjectBuilder()
                .add(
                        "lease",
                        switch (progress.lease()) {
                            case HELD -> "held";
                            case ELSEWHERE -> "standby";
                            case NONE -> "none";
                        })
                .add("acknowledged", progress.acknowledgedRecords())
                .add("inFlight", progress.backlog());
        String owner = progress.leaseOwner();
        if (owner != null) {
            json.add("owner", owner);
        }
        return json.add("checks", ready().json().getJsonArray("checks")).build();
    }

    /** @param ended threads that have ended without being asked, and why */
    private Check loop(SortedMap<String, String> ended) {
        String end = progress.endCause();
        String first = ended.isEmpty() ? null : ended.firstKey() + " " + ended.get(ended.firstKey());
        return Check.of(
                "loop",
                end == null ? first : end,
                Map.of("running", progress.sinceStart().toString()));
    }

    /** <b>Remedy.</b> Wait, or see the relay's log. */
    private Check database() {
        Duration age = progress.sincePoll();
        String cause = progress.databaseCause();
        if (cause == null && !progress.hasPolled()) {
            cause = "no successful poll yet";
        } else if (cause == null && age.compareTo(timeout) > 0) {
            cause = "the last successful poll is " + age.toSeconds() + " s ago, the limit is " + timeout.toSeconds()
                    + " s";
        }
        return Check.of("database", cause, progress.hasPolled() ? Map.of("lastPollAge", age.toString()) : Map.of());
    }

    private Check lease() {
        return switch (progress.lease()) {
            case HELD -> Check.of("lease", null, Map.of("state", "held", "epoch", Long.toString(progress.epoch())));
            case ELSEWHERE ->
                Check.of("lease", null, Map.of("state", "standby", "owner", String.valueOf(progress.leaseOwner())));
            case NONE -> Check.of("lease", "the lease is not held", Map.of("state", "none"));
        };
    }

    private Check kafka() {
        return Check.of("kafka", progress.brokerCause(), Map.of());
    }

    private Check movement() {
        Instant paused = progress.pausedSince();
        if (paused != null) {
            return Check.of(
                    "progress",
                    "paused by an operator since " + paused + ": nothing is sent until \"twinbox-relay resume\"",
                    Map.of("position", progress.position()));
        }
        String held = progress.observed().held();
        if (held != null) {
            return Check.of("progress", held, Map.of("position", progress.position()));
        }
        Duration still = progress.sinceMove();
        String cause = still.compareTo(timeout) <= 0
                ? null
                : "for " + still.toSeconds() + " s none of the events in flight was acknowledged, the limit is "
                        + timeout.toSeconds() + " s: check whether the broker is reachable";
        Map<String, String> data = new LinkedHashMap<>();
        data.put("inFlight", Long.toString(progress.backlog()));
        data.put("position", progress.position());
        Map<String, Instant> topics = progress.observed().pausedTopics();
        if (topics != null && !topics.isEmpty()) {
            data.put("pausedTopics", String.join(", ", topics.keySet()));
        }
        return Check.of("progress", cause, data);
    }
}
