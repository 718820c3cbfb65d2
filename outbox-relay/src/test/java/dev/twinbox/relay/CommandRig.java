package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.log.Logging;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Commands in this JVM, on tables of their own that no relay works on. */
final class CommandRig implements AutoCloseable {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final OutboxDatabaseFixture database = OutboxDatabaseFixture.create();
    private final Connection owner = database.connect();
    private final Path file;

    /** @param folder for the configuration */
    CommandRig(Path folder) throws SQLException, IOException {
        System.setProperty(Logging.OPERATORS_FILE, "logback-test.xml");
        file = Files.writeString(folder.resolve("relay.properties"), """
                twinbox.relay.database.url=%s
                twinbox.relay.database.user=%s
                twinbox.relay.database.password=%s
                twinbox.relay.kafka.bootstrap.servers=localhost:1
                """.formatted(
                        database.url(),
                        OutboxDatabaseFixture.server().user(),
                        OutboxDatabaseFixture.server().password()));
    }

    OutboxDatabaseFixture database() {
        return database;
    }

    /** Of the tables' owner. */
    Connection owner() {
        return owner;
    }

    void execute(String sql) throws SQLException {
        OutboxDatabaseFixture.execute(owner, sql);
    }

    String query(String sql) throws SQLException {
        return OutboxDatabaseFixture.query(owner, sql);
    }

    /** Runs a command, and returns what it prints. */
    String run(ExitCode expected, List<String> command) {
        out.getBuffer().setLength(0);
        List<String> all = new ArrayList<>(command);
        all.addAll(List.of("--config", file.toString()));
        int code = RelayMain.commandLine()
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(all.toArray(String[]::new));
        assertThat(code).as(err.toString()).isEqualTo(expected.number());
        return out.toString();
    }

    /** What all commands have printed as errors. */
    String errors() {
        return err.toString();
    }

    static JsonObject json(String text) {
        try (JsonReader reader = Json.createReader(new StringReader(text))) {
            return reader.readObject();
        }
    }

    @Override
    public void close() throws SQLException {
        owner.close();
    }
}
