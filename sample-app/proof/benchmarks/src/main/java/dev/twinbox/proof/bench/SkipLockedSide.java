package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PostgresServer;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;

/**
 * {@link SkipLockedPoller} on a table of its own. It deletes what it publishes, so each run gets a copy of the backlog.
 */
final class SkipLockedSide implements PublishingSide {

    static final String LABEL = "skip locked + delete";

    private static final String KEEP = """
            -- bench: keep the poller's backlog
            create table skip_locked_backlog as select * from skip_locked_outbox""";

    private static final String EMPTY = "truncate skip_locked_outbox";

    private static final String RESTORE = """
            -- bench: restore the poller's backlog
            insert into skip_locked_outbox overriding system value select * from skip_locked_backlog order by number""";

    private final PostgresServer postgres;
    private final String database;
    private final long events;
    private final Path settings;
    private final JavaProgram program;

    /** @param folder for the settings file and the child's output */
    SkipLockedSide(
            PostgresServer postgres,
            String database,
            long events,
            Map<String, String> producerSettings,
            List<String> jvmOptions,
            Path folder)
            throws IOException {
        this.postgres = postgres;
        this.database = database;
        this.events = events;
        this.settings = folder.resolve("skip-locked.properties");
        this.program = JavaProgram.ofThisClassPath(
                "the poller",
                SkipLockedPoller.class,
                jvmOptions,
                Map.of(SkipLockedPoller.PASSWORD, postgres.password()),
                folder);
        ProducerSettings.write(producerSettings, settings);
    }

    /** Creates the table, and the copy from which it is filled before each run. */
    void load(Workload workload, String topic) throws SQLException, IOException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(EventTable.SKIP_LOCKED.ddl());
            OutboxBacklog.load(connection, EventTable.SKIP_LOCKED, workload, topic);
            statement.execute(KEEP);
        }
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public void prepare() throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(EMPTY);
            statement.execute(RESTORE);
            statement.execute("vacuum (analyze) skip_locked_outbox");
            statement.execute("checkpoint");
        }
    }

    @Override
    public Timed run(Deadline deadline) throws SQLException, IOException, InterruptedException {
        Timed took = program.run(deadline, arguments(postgres.user(), events));
        // Otherwise autovacuum would remove the deleted rows while another side is measured.
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(EMPTY);
        }
        return took;
    }

    /**
     * Starts the poller on the rows in the table. It runs until it is closed.
     *
     * @param user with the superuser's password
     */
    JavaProgram.Running startForEver(String user) throws IOException {
        return program.start(arguments(user, SkipLockedPoller.FOR_EVER));
    }

    private String[] arguments(String user, long limit) {
        return new String[] {settings.toString(), postgres.jdbcUrl(database), user, Long.toString(limit)};
    }
}
