package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Secret;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockSettingsTest {

    private static final Path DOCUMENT = Path.of("..", "docs", "reference", "configuration.md");
    private static final String OUTBOX = "twinbox.outbox.data-source";
    private static final String INBOX = "twinbox.inbox.data-source";

    @Test
    void theDocumentHasTheRowOfEachKeyAndNoOther() throws IOException {
        List<String> rows = Files.readAllLines(DOCUMENT).stream()
                .filter(line -> line.startsWith("| `twinbox.locks"))
                .toList();

        assertThat(rows)
                .as("rows of %s; put in or take out what differs", DOCUMENT)
                .containsExactlyElementsOf(
                        LockSettings.ALL.stream().map(LockSettingsTest::row).toList());
    }

    private static String row(Setting<?> setting) {
        return "| `" + setting.key() + "` | " + setting.type() + " | " + setting.shownDefault() + " | "
                + setting.description() + " |";
    }

    @Test
    void theDatabaseOfTheOutboxIsTheDefault() {
        assertThat(read(Map.of(
                        OUTBOX, "java:app/jdbc/orders", INBOX, "java:app/jdbc/in", "twinbox.outbox.schema", "S")))
                .isEqualTo(new LockConfiguration(
                        "java:app/jdbc/orders", locks("S", "outbox_lock"), locks(null, "inbox_lock"), null));
    }

    @Test
    void theDatabaseOfTheInboxIsTheDefaultWithoutAnOutbox() {
        assertThat(read(Map.of(INBOX, "java:app/jdbc/in", "twinbox.inbox.table", "seen_event")))
                .isEqualTo(new LockConfiguration(
                        "java:app/jdbc/in", locks(null, "seen_lock"), locks(null, "outbox_lock"), null));
    }

    @Test
    void theTablesFollowTheDataSource() {
        Map<String, String> both = Map.of(OUTBOX, "a", INBOX, "b");

        assertThat(read(with(both, "twinbox.locks.data-source", "b")).tables()).isEqualTo(locks(null, "inbox_lock"));
        assertThat(read(with(both, "twinbox.locks.data-source", "a")).tables()).isEqualTo(locks(null, "outbox_lock"));
        assertThat(read(with(both, "twinbox.locks.data-source", "c")).tables()).isEqualTo(locks(null, "outbox_lock"));
    }

    @ParameterizedTest
    @CsvSource({
        "redis://cache.example, cache.example, 6379, 0, false",
        "redis://cache.example:6380/, cache.example, 6380, 0, false",
        "rediss://10.0.0.1:1/15, 10.0.0.1, 1, 15, true",
        "redis://[::1]:7000/2, [::1], 7000, 2, false"
    })
    void theUrlOfRedisIsRead(String url, String host, int port, int database, boolean tls) {
        assertThat(RedisAddress.parse(url)).isEqualTo(new RedisAddress(host, port, database, tls));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cache.example:6379",
                "http://cache.example",
                "redis:cache",
                "redis://",
                "redis://a b",
                "redis://cache.example:99999",
                "redis://[::1]:7000/one",
                "redis://cache.example/one"
            })
    void aMalformedUrlIsNamedWithWhatIsLegal(String url) {
        assertThat(problems(redis(url)))
                .singleElement()
                .asString()
                .startsWith("twinbox.locks.redis.url = \"********\" must be redis://HOST, redis://HOST:PORT or ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://:pass/word@h:1",
                "redis://user:pass@word@h",
                "redis://password@h",
                "rediss:password@h",
                "h:password@h"
            })
    void aSecretInTheUrlIsRefusedAndNotShown(String url) {
        assertThat(problems(redis(url)))
                .singleElement()
                .asString()
                .contains("must not hold user or password: put them into twinbox.locks.redis.user")
                .doesNotContain("pass/", ":pass", "password@", "word@");
    }

    /** Whoever writes them means a password, perhaps. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://cache.example/0?password=geheim",
                "redis://:geheim",
                "redis://default:geheim:6379",
                "redis://default:geheim%40cache:6379",
                "redis://[::1]:geheim",
                "redis://cache:6379#geheim",
                "redis:default:geheim"
            })
    void fault80WhatMayBeASecretInAMalformedUrlIsNotShown(String url) {
        assertThat(problems(redis(url)))
                .singleElement()
                .asString()
                .startsWith("twinbox.locks.redis.url = \"********\" must be redis://HOST, redis://HOST:PORT or ")
                .doesNotContain("geheim");
    }

    @Test
    void fault82AUserOfRedisNeedsAPassword() {
        assertThat(problems(with(redis("redis://cache"), "twinbox.locks.redis.user", "app")))
                .singleElement()
                .asString()
                .startsWith("twinbox.locks.redis.user = \"app\" needs a password");
    }

    @Test
    void fault82RedisThatIsConfiguredAndNotChosenIsRefused() {
        Map<String, String> set = Map.of(
                "twinbox.locks.data-source", "d",
                "twinbox.locks.redis.url", "redis://cache",
                "twinbox.locks.redis.user", "app",
                "twinbox.locks.redis.password", "geheim");

        assertThat(problems(set))
                .hasSize(3)
                .allMatch(problem ->
                        problem.endsWith("counts with redis only: set twinbox.locks to redis, or remove the key"))
                .noneMatch(problem -> problem.contains("geheim"));
    }

    @Test
    void fault87AnUnderscoreInAHostIsNamed() {
        assertThat(problems(redis("redis://my_redis:6379")))
                .singleElement()
                .asString()
                .endsWith("no host of a URL may have an underscore: use another name of it");
    }

    @Test
    void fault97AKeyOrALeaseThatIsNullIsIllegalAndNamed() {
        assertThatThrownBy(() -> LockRules.checkKey(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("The key of a lock is null: pass");
        assertThatThrownBy(() -> LockRules.checkLease(null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("The lease of a lock is null: it must be PT0.001S to PT24H");
    }

    @Test
    void fault99TheTableCanBeNamedAndDependsOnNothingElseThen() {
        Map<String, String> both = Map.of(OUTBOX, "a", INBOX, "b");
        Map<String, String> named = with(with(both, "twinbox.locks.table", "my_lock"), "twinbox.locks.schema", "S");

        assertThat(read(named)).isEqualTo(new LockConfiguration("a", locks("S", "my_lock"), null, null));
        assertThat(read(with(named, "twinbox.locks.data-source", "b")).tables()).isEqualTo(locks("S", "my_lock"));
        assertThat(problems(with(both, "twinbox.locks.schema", "S")))
                .containsExactly(
                        "twinbox.locks.schema = \"S\" counts with twinbox.locks.table only: set it, or remove the key");
        assertThat(problems(with(both, "twinbox.locks.table", "x".repeat(60))))
                .singleElement()
                .asString()
                .startsWith("twinbox.locks.table = \"xxx")
                .contains("_token\" has 66 bytes of UTF-8: PostgreSQL cuts identifiers after 63");
    }

    @Test
    void fault99TheTableThatIsNotChosenIsKnown() {
        Map<String, String> both = Map.of(OUTBOX, "a", INBOX, "b");

        assertThat(read(with(both, "twinbox.locks.data-source", "b")).other()).isEqualTo(locks(null, "outbox_lock"));
        assertThat(read(with(both, "twinbox.locks.data-source", "a")).other()).isEqualTo(locks(null, "inbox_lock"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://h/d?user=u&password=geheim",
                "postgres://u:geheim@h/d",
                "u:geheim@h/d",
                "jdbc:oracle:thin:u/geheim"
            })
    void fault114AUrlInPlaceOfAJndiNameIsRefusedAndNotShown(String url) {
        for (String key : List.of("twinbox.locks.data-source", OUTBOX, INBOX)) {
            assertThat(problems(Map.of("twinbox.locks", "postgresql", key, url)))
                    .anyMatch(problem -> problem.startsWith(key + " = \"********\" must be a JNDI name"))
                    .noneMatch(problem -> problem.contains("geheim"));
        }
        assertThat(problems(Map.of("twinbox.locks.data-source", url))).hasSize(1);
    }

    @Test
    void fault114APasswordInTheUserIsNotShown() {
        assertThat(problems(with(redis("redis://cache"), "twinbox.locks.redis.user", "app:geheim")))
                .singleElement()
                .asString()
                .startsWith("twinbox.locks.redis.user = \"********\" needs a password");
    }

    @Test
    void fault114AMissingLetterIsNotOverlooked() {
        Map<String, String> misspelt = Map.of("twinbox.locks.data-source", "d", "twinbox.lock", "redis");

        assertThat(problems(misspelt))
                .containsExactly("twinbox.lock = \"redis\" is unknown: did you mean twinbox.locks?");
        assertThat(LockSettings.isAnySet(config(Map.of("twinbox.lock", "redis"))))
                .isTrue();
    }

    @Test
    void everythingOfRedisCanBeSet() {
        Map<String, String> all = new HashMap<>(redis("redis://h:1/2"));
        all.put("twinbox.locks.schema", "S");
        all.put("twinbox.locks.table", "billing_lock");
        all.put("twinbox.locks.redis.user", "u");
        all.put("twinbox.locks.redis.password", "p@ss");

        LockConfiguration read = read(all);

        assertThat(read.redis())
                .isEqualTo(new LockConfiguration.Redis(new RedisAddress("h", 1, 2, false), "u", new Secret("p@ss")));
        assertThat(read).asString().contains("redis://h:1/2").doesNotContain("p@ss");
        assertThat(all.keySet())
                .as("all keys there are")
                .containsAll(LockSettings.ALL.stream().map(Setting::key).toList());
    }

    @Test
    void redisNeedsItsUrlAndItsLibrary() {
        Map<String, String> set = new HashMap<>(redis(""));

        assertThatThrownBy(() -> LockSettings.read(reader(set), null))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining(
                        "twinbox.locks = \"redis\" needs Jedis 5 or later, which this application lacks: add ")
                .hasMessageContaining("twinbox.locks.redis.url is missing: set it to redis://HOST:PORT");
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        assertThat(problems(Map.of("twinbox.locks", "zookeeper", "twinbox.locks.redis.passwort", "p")))
                .hasSize(3)
                .anyMatch(p -> p.startsWith("twinbox.locks = \"zookeeper\" must be one of postgresql, redis"))
                .anyMatch(p -> p.startsWith("twinbox.locks.data-source is missing: set it to the JNDI name"))
                .anyMatch(p -> p.startsWith(
                        "twinbox.locks.redis.passwort is unknown: did you mean twinbox.locks.redis.password?"));
    }

    private static Map<String, String> redis(String url) {
        return Map.of("twinbox.locks", "redis", "twinbox.locks.data-source", "d", "twinbox.locks.redis.url", url);
    }

    private static Map<String, String> with(Map<String, String> set, String key, String value) {
        Map<String, String> all = new HashMap<>(set);
        all.put(key, value);
        return all;
    }

    private static LockSchema locks(String schema, String table) {
        return new LockSchema(new SqlIdentifier(schema, table));
    }

    private static LockConfiguration read(Map<String, String> set) {
        return LockSettings.read(reader(set), LockSettingsTest.class.getClassLoader());
    }

    private static List<String> problems(Map<String, String> set) {
        try {
            read(set);
            return List.of();
        } catch (InvalidConfigurationException e) {
            return e.problems();
        }
    }

    private static SettingsReader reader(Map<String, String> set) {
        return new SettingsReader(config(set), Set.of());
    }

    private static Config config(Map<String, String> set) {
        return new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(set, "test", 100))
                .build();
    }
}
