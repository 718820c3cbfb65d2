package dev.twinbox.lock;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hunt: settings of the driver and of the session, TLS. */
class HuntLockDriverIT {

    private static EffectDatabase database;

    @BeforeAll
    static void start() throws Exception {
        database = EffectDatabase.create(SharedServers.postgres(), "hunt_driver");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "preferQueryMode=simple",
                "preferQueryMode=extendedForPrepared",
                "preferQueryMode=extendedCacheEverything",
                "autosave=always",
                "autosave=always&cleanupSavepoints=true",
                "autosave=conservative",
                "prepareThreshold=1",
                "prepareThreshold=-1",
                "binaryTransfer=false",
                "defaultRowFetchSize=1",
                "defaultRowFetchSize=1&prepareThreshold=1",
                "stringtype=unspecified",
                "stringtype=unspecified&preferQueryMode=simple",
                "adaptiveFetch=true&defaultRowFetchSize=1&maxResultBuffer=1M",
                "reWriteBatchedInserts=true",
                "logUnclosedConnections=true&targetServerType=primary",
                "options=-c%20lock_timeout=1",
                "options=-c%20lock_timeout=90000000",
                "options=-c%20statement_timeout=5000",
                "options=-c%20IntervalStyle=sql_standard",
                "options=-c%20IntervalStyle=iso_8601%20-c%20DateStyle=German",
                "options=-c%20TimeZone=Pacific/Chatham",
                "options=-c%20standard_conforming_strings=off",
                "options=-c%20synchronous_commit=off",
                "options=-c%20synchronous_commit=remote_apply",
                "options=-c%20plan_cache_mode=force_generic_plan",
                "options=-c%20enable_indexscan=off%20-c%20enable_seqscan=off%20-c%20enable_bitmapscan=off",
                "options=-c%20enable_hashjoin=off%20-c%20enable_nestloop=off",
                "options=-c%20jit=on%20-c%20jit_above_cost=0",
                "options=-c%20quote_all_identifiers=on%20-c%20transform_null_equals=on",
                "options=-c%20default_transaction_deferrable=on",
                "options=-c%20extra_float_digits=0%20-c%20bytea_output=escape",
                "options=-c%20client_min_messages=debug5",
                "options=-c%20debug_parallel_query=regress",
                "options=-c%20default_transaction_isolation=serializable",
            })
    void theContractHoldsWhateverTheDriverDoes(String option) throws Exception {
        String url = database.url() + (database.url().contains("?") ? "&" : "?") + option;
        LockParts parts = HuntLockRig.parts(url, database.user(), database.password());
        if (option.contains("serializable")) {
            dev.twinbox.KeyLock lock =
                    parts.tryLock(HuntLockRig.key("s"), HuntLockRig.LONG).orElseThrow();
            HuntLockRig.write(parts, lock, "s", "s");
            return;
        }
        HuntLockRig.contract(parts, database);
    }

    @Test
    void theContractHoldsOverTls() throws Exception {
        Path folder = Files.createTempDirectory("hunt-tls");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        run(
                "openssl", "req", "-new", "-x509", "-days", "9", "-nodes", "-newkey", "rsa:2048", "-subj",
                "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-out", folder + "/c.pem",
                "-keyout", folder + "/k.pem");
        run("chmod", "600", folder + "/k.pem");
        run("chown", "65534:65534", folder + "/k.pem", folder + "/c.pem");
        try (PostgresServer tls = PostgresServer.create()
                .withSetting("ssl", "on")
                .withSetting("ssl_cert_file", folder + "/c.pem")
                .withSetting("ssl_key_file", folder + "/k.pem")) {
            tls.start();
            EffectDatabase own = EffectDatabase.create(tls, "hunt_tls");
            String url = own.url() + (own.url().contains("?") ? "&" : "?") + "sslmode=verify-full&sslrootcert=" + folder
                    + "/c.pem";
            HuntLockRig.contract(HuntLockRig.parts(url, own.user(), own.password()), own);
            try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(own, "tls", 2)) {
                crowd.run(4, () -> HuntLockRig.parts(url, own.user(), own.password()));
                for (int i = 0; i < 6; i++) {
                    Thread.sleep(500);
                    own.execute("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend'"
                            + " and pid <> pg_backend_pid() and datname = current_database() and random() < 0.7");
                }
                crowd.stop();
                crowd.verify(own);
            }
        }
    }

    static void run(String... command) throws Exception {
        Process process =
                new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IllegalStateException(String.join(" ", command) + ": " + out);
        }
    }
}
