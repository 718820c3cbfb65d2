package dev.twinbox.lock;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Secret;
import dev.twinbox.config.Setting;
import dev.twinbox.config.SettingsReader;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.TableSettings;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/** What an application may set for its locks. The documentation is checked against it. */
final class LockSettings {

    private static final String NAME = "twinbox.locks";

    static final String PREFIX = NAME + '.';

    static final Setting<LockProvider> PROVIDER = Setting.oneOf(
                    NAME,
                    List.of(LockProvider.POSTGRESQL, LockProvider.REDIS),
                    LockProvider::word,
                    "Where leases are kept. The fence is in the database with either.")
            .withDefault("postgresql");

    static final Setting<String> DATA_SOURCE = Setting.jndiName(
                    PREFIX + "data-source",
                    "JTA data source of the database that the locks protect. Unset: that of the outbox, else that of "
                            + "the inbox.")
            .optional();

    static final Setting<String> SCHEMA = Setting.identifier(
                    PREFIX + "schema",
                    "Schema of `twinbox.locks.table`. Unset: the connection's `search_path` decides.",
                    OutboxSchema::checkSchema)
            .optional();

    static final Setting<String> TABLE = Setting.identifier(
                    PREFIX + "table",
                    "Table of the locks, for example `outbox_lock`. All who exclude each other use the same. Unset: that "
                            + "of the outbox, or of the inbox.",
                    LockSettings::checkTable)
            .optional();

    static final Setting<RedisAddress> REDIS_URL = Setting.of(
                    PREFIX + "redis.url",
                    "`redis:` or `rediss:` URL",
                    "Where Redis is, for example `redis://redis.example:6379/0`. Needed with `redis`.",
                    RedisAddress::parse)
            .optional();

    static final Setting<String> REDIS_USER = Setting.text(
                    PREFIX + "redis.user", "text", "User of Redis. Unset: Redis' default user.")
            .optional();

    static final Setting<Secret> REDIS_PASSWORD =
            Setting.secret(PREFIX + "redis.password", "Its password.").optional();

    /** In the order of the documentation. */
    static final List<Setting<?>> ALL =
            List.of(PROVIDER, DATA_SOURCE, SCHEMA, TABLE, REDIS_URL, REDIS_USER, REDIS_PASSWORD);

    private static final Setting<String> OUTBOX_DATA_SOURCE = TableSettings.DATA_SOURCE.optional();

    /** Keys of the inbox, which checks them. Here they only say where its tables are. */
    private static final Setting<String> INBOX_DATA_SOURCE =
            Setting.jndiName("twinbox.inbox.data-source", "See inbox.").optional();

    private static final Setting<String> INBOX_SCHEMA = ofInbox("twinbox.inbox.schema");
    private static final Setting<String> INBOX_TABLE = ofInbox("twinbox.inbox.table");
    private static final String DEFAULT_INBOX_TABLE = "inbox_event";

    /** Easily written in place of {@value #NAME}, and nobody would miss it. */
    private static final Setting<String> MISSPELT =
            Setting.text("twinbox.lock", "text", "A mistake.").optional();

    private static final String JEDIS = "redis.clients.jedis.UnifiedJedis";

    private LockSettings() {}

    /** Whether an application sets anything about locks. */
    static boolean isAnySet(Config config) {
        return config.getOptionalValue(NAME, String.class).isPresent()
                || config.getOptionalValue(MISSPELT.key(), String.class).isPresent()
                || reader(config).isAnySet(PREFIX);
    }

    /** All problems, one sentence each; empty if there are none. */
    static List<String> problems(Config config) {
        try {
            read(config);
            return List.of();
        } catch (InvalidConfigurationException e) {
            return e.problems();
        }
    }

    /** @throws InvalidConfigurationException with all problems */
    static LockConfiguration read(Config config) {
        return read(reader(config), LockSettings.class.getClassLoader());
    }

    /** @param libraries loads what the application has */
    static LockConfiguration read(SettingsReader reader, @Nullable ClassLoader libraries) {
        reader.read(ALL);
        reader.read(List.of(OUTBOX_DATA_SOURCE, INBOX_DATA_SOURCE, INBOX_SCHEMA, INBOX_TABLE, MISSPELT));
        if (reader.find(MISSPELT).isPresent()) {
            reader.report(MISSPELT.key(), "is unknown: did you mean " + NAME + "?");
        }
        Optional<OutboxSchema> outbox = TableSettings.read(reader);
        Optional<String> dataSource = reader.find(DATA_SOURCE)
                .or(() -> reader.find(OUTBOX_DATA_SOURCE))
                .or(() -> reader.find(INBOX_DATA_SOURCE));
        if (dataSource.isEmpty() && !isReported(reader, DATA_SOURCE)) {
            reader.report(
                    DATA_SOURCE.key(),
                    "is missing: set it to the JNDI name of a JTA data source (this application has neither "
                            + OUTBOX_DATA_SOURCE.key() + " nor " + INBOX_DATA_SOURCE.key() + ")");
        }
        boolean isRedis = reader.find(PROVIDER).orElse(LockProvider.POSTGRESQL) == LockProvider.REDIS;
        if (isRedis) {
            checkRedis(reader, libraries);
        } else {
            refuseRedis(reader);
        }
        reader.refuseUnknown(PREFIX);
        Optional<Tables> tables = tables(reader, outbox, dataSource.orElse(""));
        reader.throwIfWrong("Configuration of the locks");
        Tables chosen = tables.orElseThrow();
        return new LockConfiguration(
                dataSource.orElseThrow(), chosen.used(), chosen.other(), isRedis ? redis(reader) : null);
    }

    private static boolean isReported(SettingsReader reader, Setting<?> setting) {
        return reader.problems().stream().anyMatch(problem -> problem.startsWith(setting.key() + " "));
    }

    private static void checkTable(String name) {
        SqlIdentifier.check("table", name);
        new LockSchema(new SqlIdentifier(null, name));
    }

    private static void checkRedis(SettingsReader reader, @Nullable ClassLoader libraries) {
        if (!isPresent(JEDIS, libraries)) {
            reader.report(
                    PROVIDER.key(),
                    "needs Jedis 5 or later, which this application lacks: add redis.clients:jedis to WEB-INF/lib, or "
                            + "set " + PROVIDER.key() + " to postgresql");
        }
        if (reader.find(REDIS_URL).isEmpty() && !isReported(reader, REDIS_URL)) {
            reader.report(REDIS_URL.key(), "is missing: set it to redis://HOST:PORT, because " + NAME + " is redis");
        }
        if (reader.find(REDIS_USER).isPresent() && reader.find(REDIS_PASSWORD).isEmpty()) {
            reader.report(
                    REDIS_USER.key(),
                    "needs a password, without which Redis takes nobody for this user: set " + REDIS_PASSWORD.key());
        }
    }

    /** Somebody wants Redis, and has not said so. */
    private static void refuseRedis(SettingsReader reader) {
        for (Setting<?> setting : List.of(REDIS_URL, REDIS_USER, REDIS_PASSWORD)) {
            if (reader.find(setting).isPresent()) {
                reader.report(setting.key(), "counts with redis only: set " + NAME + " to redis, or remove the key");
            }
        }
    }

    private static LockConfiguration.Redis redis(SettingsReader reader) {
        return new LockConfiguration.Redis(
                reader.get(REDIS_URL),
                reader.find(REDIS_USER).orElse(null),
                reader.find(REDIS_PASSWORD).orElse(null));
    }

    private record Tables(LockSchema used, @Nullable LockSchema other) {}

    /**
     * What is configured; else the inbox's if the data source is the inbox's alone, else the outbox's, whose names have
     * defaults.
     */
    private static Optional<Tables> tables(SettingsReader reader, Optional<OutboxSchema> outbox, String dataSource) {
        String schema = reader.find(SCHEMA).orElse(null);
        if (reader.find(TABLE).isPresent()) {
            return reader.combine(
                    List.of(SCHEMA, TABLE),
                    () -> new Tables(new LockSchema(new SqlIdentifier(schema, reader.get(TABLE))), null));
        }
        if (schema != null) {
            reader.report(SCHEMA.key(), "counts with " + TABLE.key() + " only: set it, or remove the key");
        }
        Optional<LockSchema> ofInbox = reader.combine(
                List.of(INBOX_SCHEMA, INBOX_TABLE),
                () -> LockSchema.of(new SqlIdentifier(
                        reader.find(INBOX_SCHEMA).orElse(null),
                        reader.find(INBOX_TABLE).orElse(DEFAULT_INBOX_TABLE))));
        Optional<LockSchema> ofOutbox = outbox.map(OutboxSchema::locks);
        if (ofInbox.isEmpty() || ofOutbox.isEmpty()) {
            return Optional.empty();
        }
        boolean isInboxAlone = reader.find(INBOX_DATA_SOURCE)
                        .filter(dataSource::equals)
                        .isPresent()
                && reader.find(OUTBOX_DATA_SOURCE).filter(dataSource::equals).isEmpty();
        return Optional.of(
                isInboxAlone ? new Tables(ofInbox.get(), ofOutbox.get()) : new Tables(ofOutbox.get(), ofInbox.get()));
    }

    private static Setting<String> ofInbox(String key) {
        return Setting.text(key, "text", "See inbox.").optional();
    }

    private static boolean isPresent(String className, @Nullable ClassLoader libraries) {
        try {
            Class.forName(className, false, libraries);
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    private static SettingsReader reader(Config config) {
        return new SettingsReader(config, System.getenv().keySet());
    }
}
