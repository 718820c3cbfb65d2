package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Console;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import org.postgresql.PGConnection;
import org.postgresql.copy.PGCopyInputStream;

/**
 * What PostgreSQL needs to hand over the rows at all: one {@code COPY} of the table, in binary form, whose rows are
 * dropped. No way out of the table can cost it less.
 *
 * @param postgresql its processor time, in microseconds per row
 */
record PlainCopy(double perSecond, double postgresql) {
    private static final String COPY = """
            -- bench: plain copy
            copy (select seq, id, topic, key, type, source, subject, occurred_at, content_type, headers, payload
              from outbox_event) to stdout (format binary)""";

    /** @param rows in the table */
    static PlainCopy measure(BenchServers servers, int rows) throws SQLException, IOException {
        try (Connection connection = servers.connect()) {
            ProcessorTime before = ProcessorTime.withSenders(servers);
            long begun = System.nanoTime();
            long bytes;
            try (InputStream copy = new PGCopyInputStream(connection.unwrap(PGConnection.class), COPY)) {
                bytes = copy.transferTo(OutputStream.nullOutputStream());
            }
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            ProcessorTime spent = ProcessorTime.withSenders(servers).since(before);
            if (bytes < (long) rows * Workload.PAYLOAD_BYTES) {
                throw new InvalidRunException("COPY has returned " + bytes + " bytes, too few for " + rows + " rows");
            }
            PlainCopy plain = new PlainCopy(
                    rows / (took.toNanos() / 1e9), spent.postgresql().toNanos() / 1e3 / rows);
            Console.say("plain " + plain.told());
            return plain;
        }
    }

    String told() {
        return String.format(
                Locale.ROOT, "COPY: %s, CPU µs/event: PostgreSQL %.1f", Console.perSecond(perSecond), postgresql);
    }

    JsonObjectBuilder json() {
        return Json.createObjectBuilder()
                .add("per_s", Math.round(perSecond))
                .add("postgresql_us_per_event", Math.round(postgresql * 10) / 10.0);
    }
}
