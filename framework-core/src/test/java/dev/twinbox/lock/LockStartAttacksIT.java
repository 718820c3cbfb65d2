package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLock;
import dev.twinbox.SchemaException;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TestPooler;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.AbstractStringAssert;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks that the check before the first lock did not see once: another table, another schema, a pooler. */
@Timeout(60)
class LockStartAttacksIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final LockSchema OF_INBOX = LockSchema.of(new SqlIdentifier(null, "inbox_event"));
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    private static EffectDatabase database;

    private final String key = "key " + NUMBERS.incrementAndGet();

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "lock_start");
    }

    /** An application that had an inbox only gets an outbox, too. */
    @Test
    void fault99ATableThatHasChangedWhileLocksAreTakenIsRefused() throws SQLException {
        EffectDatabase both = EffectDatabase.create(SharedServers.postgres(), "lock_start_both");
        both.execute("create sequence inbox_lock_token as bigint;"
                + "create table inbox_lock (like outbox_lock including all)");
        LockParts before = new LockParts(physical(both), new FenceTable(OF_INBOX), null);
        assertThat(check(before, OF_INBOX, LockParts.TABLES).find().name()).isEqualTo("public.inbox_lock");
        assertThat(check(before, LockParts.TABLES, OF_INBOX).find().name())
                .as("nobody has a lock yet")
                .isEqualTo("public.outbox_lock");

        before.tryLock(key, LONG).orElseThrow().close();

        assertThatThrownBy(() -> check(before, LockParts.TABLES, OF_INBOX).find())
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("twinbox.locks.table is unset, which means \"public\".\"outbox_lock\" here, but "
                        + "locks were taken in \"inbox_lock\"")
                .hasMessageContaining("set it to the table that all instances use");
        assertThat(check(before, LockParts.TABLES, null).find().name())
                .as("the choice is configured")
                .isEqualTo("public.outbox_lock");
        assertThat(check(before, OF_INBOX, LockParts.TABLES).find().name()).isEqualTo("public.inbox_lock");
    }

    @Test
    void fault99ATableOfAnotherApplicationIsNoneOfOurs() throws SQLException {
        EffectDatabase both = EffectDatabase.create(SharedServers.postgres(), "lock_start_others");
        both.execute("create schema other; create sequence other.inbox_lock_token as bigint;"
                + "create table other.inbox_lock (like outbox_lock including all);"
                + "select nextval('other.inbox_lock_token');"
                + "create table inbox_lock_token (a int);"
                + "create role lock_start_little login password 'twinbox';"
                + "grant select, insert, update, delete on outbox_lock to lock_start_little;"
                + "grant usage on sequence outbox_lock_token to lock_start_little");
        LockParts parts = new LockParts(both.url(), "lock_start_little", "twinbox", null);
        LockSchema ofOther = LockSchema.of(new SqlIdentifier("other", "inbox_event"));

        assertThat(check(parts, LockParts.TABLES, OF_INBOX).find().name()).isEqualTo("public.outbox_lock");
        assertThat(check(parts, LockParts.TABLES, ofOther).find().name()).isEqualTo("public.outbox_lock");
    }

    @ParameterizedTest
    @CsvSource({
        "alter sequence outbox_lock_token cycle, alter sequence outbox_lock_token no cycle",
        "alter sequence outbox_lock_token increment by -1, alter sequence outbox_lock_token increment by 1"
    })
    void fault101ASequenceWhoseNumbersComeAgainIsRefused(String damage, String repair) {
        assertThatProblem(damage, repair)
                .contains("cycles or falls, so an earlier holder's token can come again: run \"alter sequence ");
    }

    @Test
    void fault105APoolerThatMixesUpStatementsIsNamed(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path trust = Files.writeString(folder.resolve("pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
        Files.setPosixFilePermissions(trust, PosixFilePermissions.fromString("rw-r--r--"));
        try (PostgresServer server = PostgresServer.create()
                        .withSetting("hba_file", trust.toString())
                        .start();
                TestPooler pooler = new TestPooler(TestPooler.Mode.TRANSACTION, server.port());
                TestPooler inSessionMode = new TestPooler(TestPooler.Mode.SESSION_THAT_HIDES_CRASHES, server.port())) {
            assertThat(warnings(server.jdbcUrl("postgres") + "?user=postgres")).isEmpty();
            assertThat(warnings(inSessionMode.plainJdbcUrl("postgres"))).isEmpty();
            assertThat(warnings(pooler.jdbcUrl("postgres")))
                    .as("the driver keeps no statements")
                    .isEmpty();
            assertThat(warnings(pooler.plainJdbcUrl("postgres")))
                    .singleElement()
                    .asString()
                    .startsWith("WARNING The data source java:app/jdbc/x leads to a pooler in transaction mode")
                    .contains("prepareThreshold=0");
        }
    }

    private static List<String> warnings(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        try (LogLines log = new LogLines(PoolerCheck.class)) {
            PoolerCheck.run(source, "java:app/jdbc/x");
            return log.lines();
        }
    }

    @Test
    void fault106ASessionInAnotherSchemaUsesTheSameTable() throws SQLException {
        database.execute("create schema tenant; create table tenant.outbox_lock (like outbox_lock including all);"
                + "create sequence tenant.outbox_lock_token as bigint");
        FenceTable found = new FenceTable(
                check(parts(physical(database)), LockParts.TABLES, null).find().tables());
        LockParts usual = new LockParts(physical(database), found, null);
        PGSimpleDataSource inTenant = physical(database);
        inTenant.setCurrentSchema("tenant,public");
        LockParts elsewhere = new LockParts(inTenant, found, null);
        KeyLock lock = usual.tryLock(key, LONG).orElseThrow();

        assertThat(elsewhere.tryLock(key, LONG)).isEmpty();
        assertThat(usual.<Boolean>inTransaction(() -> {
                    execute(usual, "set local search_path = tenant");
                    lock.fence();
                    return true;
                }))
                .isTrue();
    }

    @Test
    void fault106ATemporaryTableIsNoFence() throws SQLException {
        FenceTable found = new FenceTable(
                check(parts(physical(database)), LockParts.TABLES, null).find().tables());
        LockParts parts = new LockParts(physical(database), found, null);
        KeyLock early = parts.tryLock(key, LONG).orElseThrow();
        database.execute("delete from outbox_lock where key = '" + key + "'");

        assertThatThrownBy(() -> parts.inTransaction(() -> {
                    execute(
                            parts,
                            "create temporary table outbox_lock on commit drop as select '" + key + "'::text as key, "
                                    + early.token() + "::bigint as token, now() as lease_until");
                    early.fence();
                    return true;
                }))
                .isInstanceOf(StaleLockException.class);
    }

    private static void execute(LockParts parts, String sql) throws SQLException {
        try (Connection connection = parts.transactions.dataSource().getConnection()) {
            connection.createStatement().execute(sql);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            alter table outbox_lock drop constraint outbox_lock_pkey | alter table outbox_lock add primary key (key) | has no unique index on (key)
            delete from outbox_lock; alter table outbox_lock add column more int not null | alter table outbox_lock drop column more | columns that must not be null and have no default (more)
            """)
    void fault110WhatLetsEachGrantFailIsRefused(String damage, String repair, String problem) {
        assertThatProblem(damage, repair).contains(problem);
    }

    @Test
    void fault110TransactionsThatAreReadOnlyByDefaultAreRefused() {
        PGSimpleDataSource source = physical(database);
        source.setOptions("-c default_transaction_read_only=on");

        assertThatThrownBy(() -> check(parts(source), LockParts.TABLES, null).find())
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("transactions are read-only by default, and every grant writes");
    }

    private static AbstractStringAssert<?> assertThatProblem(String damage, String repair) {
        database.execute(damage);
        Throwable thrown;
        try {
            thrown = catchThrowable(() ->
                    check(parts(physical(database)), LockParts.TABLES, null).find());
        } finally {
            database.execute(repair);
        }
        assertThat(thrown).isInstanceOf(SchemaException.class);
        return assertThat(thrown.getMessage());
    }

    private static LockCheck check(LockParts parts, LockSchema tables, LockSchema other) {
        return new LockCheck(new LockConfiguration("java:app/jdbc/x", tables, other, null), parts.database);
    }

    private static LockParts parts(PGSimpleDataSource source) {
        return new LockParts(source, new FenceTable(LockParts.TABLES), null);
    }

    private static PGSimpleDataSource physical(EffectDatabase of) {
        return LockParts.physical(of.url(), of.user(), of.password());
    }
}
