package dev.twinbox.relay.jdbc;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table of leases: who may move a relay's position. It has one row for each relay name. Only the database's clock
 * counts. Bound to one connection in auto-commit mode; not for several threads.
 */
public final class LeaseTable {
    private static final String LOOK = """
            -- relay: read the lease
            select owner, epoch, extract(epoch from ends_at - clock_timestamp())::float8 as remaining, {taken} as taken,
              system_identifier, events, {own} as own, (to_jsonb(l) ->> 'exactly_once')::uuid as exactly_once
            from {lease} l where relay = ?
            """;

    /** Only for a name that has never published anything. */
    private static final String DECLARE = """
            -- relay: publish exactly once from the beginning
            insert into {lease} as l (relay, epoch, ends_at, system_identifier, events, exactly_once)
            values (?, 1, clock_timestamp(), ?, {own}, gen_random_uuid())
            on conflict (relay) do update set exactly_once = excluded.exactly_once
              where not ({taken}) and l.exactly_once is null
            """;

    private static final String ADOPT = """
            -- relay: publish exactly once from now on
            update {lease} set exactly_once = gen_random_uuid()
            where relay = ? and owner = ? and epoch = ? and exactly_once is null
            """;

    private static final String OTHERS = """
            -- relay: other relays of this outbox
            select relay from {lease}
            where relay <> ? and events = {own} and owner is not null and ends_at > clock_timestamp() order by relay
            """;

    private static final String NAMES = """
            -- relay: relays that have run on this outbox
            select relay from {lease} l where {taken} and (events is null or events = {own}) order by relay
            """;

    /** The full name of the event table, independent of the name and search path that lead to it. */
    private static final String OWN = """
            (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
              where c.oid = {events}::regclass)""";

    private static final String TAKE = """
            -- relay: take the lease
            insert into {lease} as l (relay, owner, epoch, ends_at, system_identifier, events)
            values (?, ?, 1, clock_timestamp() + make_interval(secs => ?), ?, {own})
            on conflict (relay) do update
              set owner = excluded.owner, epoch = l.epoch + 1, ends_at = clock_timestamp() + make_interval(secs => ?),
                events = excluded.events
              where (l.owner is null or l.owner = excluded.owner or l.ends_at <= clock_timestamp())
                and l.system_identifier = excluded.system_identifier
                and (l.events is null or l.events = excluded.events)
            returning epoch
            """;

    private static final String RENEW = """
            -- relay: renew the lease
            update {lease} set ends_at = clock_timestamp() + make_interval(secs => ?)
            where relay = ? and owner = ? and epoch = ?
            """;

    private static final String RELEASE = """
            -- relay: release the lease
            update {lease} set owner = null, ends_at = clock_timestamp() where relay = ? and owner = ? and epoch = ?
            """;

    /** When a lease ends that no process has taken: an operator has paused a relay before its first start. */
    private static final String NEVER = "to_timestamp(0)";

    /** SQL condition for a lease {@code l}: a process has taken it, so it may have sent events. */
    static final String TAKEN = "l.ends_at <> " + NEVER;

    private static final String PAUSE = """
            -- relay: pause
            insert into {lease} as l (relay, epoch, ends_at, system_identifier, events, paused_at)
            values (?, 1, {never}, ?, {own}, clock_timestamp())
            on conflict (relay) do update set paused_at = excluded.paused_at where l.paused_at is null
            """;

    private static final String RESUME = """
            -- relay: resume
            update {lease} set paused_at = null where relay = ? and paused_at is not null
            """;

    /** Reads the column through the whole row as JSON: tables of an older schema version do not have it. */
    private static final String PAUSED = """
            -- relay: look whether it is paused
            select (to_jsonb(l) ->> 'paused_at')::timestamptz from {lease} l where relay = ?
            """;

    /**
     * The lease as every process sees it.
     *
     * @param owner null: no process owns it
     * @param remaining time until it ends; negative after its end
     * @param taken whether a process has taken it at any time; if not, an operator has paused it
     * @param events the event table that the position belongs to; null: not recorded yet
     * @param own the event table of the process that reads the lease
     * @param exactlyOnce identifies the relay's own offsets in Kafka; null: the relay publishes at least once
     */
    public record Seen(
            @Nullable UUID owner,
            long epoch,
            Duration remaining,
            boolean taken,
            long systemIdentifier,
            @Nullable String events,
            String own,
            @Nullable UUID exactlyOnce) {
        public DeliveryMode delivery() {
            return exactlyOnce == null ? DeliveryMode.AT_LEAST_ONCE : DeliveryMode.EXACTLY_ONCE;
        }

        /** Whether this owner may try to take it. */
        public boolean isFreeFor(UUID candidate) {
            return owner == null || owner.equals(candidate) || remaining.isNegative() || remaining.isZero();
        }
    }

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final PreparedStatement renew;

    public LeaseTable(Connection connection, OutboxSchema schema, String relay) throws SQLException {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.renew = prepare(RENEW);
    }

    /** The lease as it is now; null if this relay has never run on this database. */
    public @Nullable Seen look() throws SQLException {
        try (PreparedStatement look = prepare(LOOK)) {
            look.setString(1, relay);
            try (ResultSet row = look.executeQuery()) {
                if (!row.next()) {
                    return null;
                }
                Duration remaining = Duration.ofMillis((long) (row.getDouble("remaining") * 1_000));
                return new Seen(
                        row.getObject("owner", UUID.class),
                        row.getLong("epoch"),
                        remaining,
                        row.getBoolean("taken"),
                        row.getLong("system_identifier"),
                        row.getString("events"),
                        row.getString("own"),
                        row.getObject("exactly_once", UUID.class));
            }
        }
    }

    /**
     * Identifies this outbox's own offsets in Kafka.
     *
     * @throws NullPointerException if the relay does not publish exactly once
     */
    public UUID exactlyOnce() throws SQLException {
        Seen seen = Objects.requireNonNull(look(), "a lease that is held");
        return Objects.requireNonNull(seen.exactlyOnce(), "the candidate has checked the mode");
    }

    /** Records that this name, if it has never run, publishes exactly once. */
    public void declareExactlyOnce(long systemIdentifier) throws SQLException {
        try (PreparedStatement declare = prepare(DECLARE)) {
            declare.setString(1, relay);
            declare.setLong(2, systemIdentifier);
            declare.executeUpdate();
        }
    }

    /** Records under the lease that this name publishes exactly once from now on. */
    public void adoptExactlyOnce(UUID owner, long epoch) throws SQLException {
        try (PreparedStatement adopt = prepare(ADOPT)) {
            adopt.setString(1, relay);
            adopt.setObject(2, owner);
            adopt.setLong(3, epoch);
            adopt.executeUpdate();
        }
    }

    /** Names of other relays that publish the same event table now. */
    public List<String> others() throws SQLException {
        try (PreparedStatement others = prepare(OTHERS)) {
            others.setString(1, relay);
            return texts(others);
        }
    }

    /** Names of all relays that have run on this outbox. */
    public List<String> names() throws SQLException {
        try (PreparedStatement names = prepare(NAMES)) {
            return texts(names);
        }
    }

    private static List<String> texts(PreparedStatement select) throws SQLException {
        try (ResultSet row = select.executeQuery()) {
            List<String> texts = new ArrayList<>();
            while (row.next()) {
                texts.add(row.getString(1));
            }
            return texts;
        }
    }

    /**
     * Takes the lease if no process owns it, if it has ended, or if it is the taker's own. The epoch grows each time.
     * So a statement of an earlier owner that is still running finds the epoch changed.
     *
     * @return the new epoch; 0 if another owner's lease still runs, or if the lease belongs to another cluster or
     *     table
     */
    public long take(UUID owner, Duration length, long systemIdentifier) throws SQLException {
        try (PreparedStatement take = prepare(TAKE)) {
            take.setString(1, relay);
            take.setObject(2, owner);
            take.setDouble(3, seconds(length));
            take.setLong(4, systemIdentifier);
            take.setDouble(5, seconds(length));
            try (ResultSet row = take.executeQuery()) {
                return row.next() ? row.getLong(1) : 0;
            }
        }
    }

    /**
     * Renews the lease, even after its end if no other process has taken it. Returns false if another process has taken
     * it.
     */
    public boolean renew(UUID owner, long epoch, Duration length) throws SQLException {
        renew.setDouble(1, seconds(length));
        renew.setString(2, relay);
        renew.setObject(3, owner);
        renew.setLong(4, epoch);
        return renew.executeUpdate() == 1;
    }

    /** Releases the lease if this owner still has it, so that a successor need not wait for its end. */
    public void release(UUID owner, long epoch) throws SQLException {
        try (PreparedStatement release = prepare(RELEASE)) {
            release.setString(1, relay);
            release.setObject(2, owner);
            release.setLong(3, epoch);
            release.executeUpdate();
        }
    }

    /**
     * Pauses the relay: it keeps its lease and sends nothing. Works for a name that has never run, too. Idempotent;
     * false if it was paused before.
     */
    public boolean pause(long systemIdentifier) throws SQLException {
        try (PreparedStatement pause = prepare(PAUSE)) {
            pause.setString(1, relay);
            pause.setLong(2, systemIdentifier);
            return pause.executeUpdate() == 1;
        }
    }

    /** Resumes the relay; false if it was not paused. */
    public boolean resume() throws SQLException {
        try (PreparedStatement resume = prepare(RESUME)) {
            resume.setString(1, relay);
            return resume.executeUpdate() == 1;
        }
    }

    /** Since when the relay is paused, by the database's clock; null if it is not. */
    public @Nullable Instant pausedSince() throws SQLException {
        try (PreparedStatement paused = prepare(PAUSED)) {
            paused.setString(1, relay);
            try (ResultSet row = paused.executeQuery()) {
                OffsetDateTime since = row.next() ? row.getObject(1, OffsetDateTime.class) : null;
                return since == null ? null : since.toInstant();
            }
        }
    }

    /** SQL expression for the value of column {@code events} in leases on this outbox. */
    static String own(OutboxSchema schema) {
        return OWN.replace("{events}", schema.events().sqlLiteral());
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(sql.replace("{own}", own(schema))
                .replace("{taken}", TAKEN)
                .replace("{never}", NEVER)
                .replace("{lease}", schema.lease().sql()));
    }

    private static double seconds(Duration length) {
        return length.toNanos() / 1e9;
    }
}
