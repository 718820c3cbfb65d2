package dev.twinbox.inbox.jdbc;

import static java.util.Map.entry;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.InboxTable.ClaimSink;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claims of jobs that handle events again, and the table of those that handle what the inbox knows.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class ReplayedTable {

    static final Map<String, String> COLUMNS =
            Map.ofEntries(entry("job", "bigint"), entry("event_id", "text"), entry("event_source", "bigint"));

    /**
     * Claims events of one handler and one partition, or reports why not. It claims nothing for a job that is over, or that
     * another instance has.
     *
     * <p>An event that is parked is left alone. An event must wait if an earlier one of its key is parked, by its offset.
     * Later ones do not count: live events of a paused handler are parked, and come after those of the job.
     *
     * <p>The plan is made and kept as that of {@link InboxTable#claim}.
     */
    private static final String CLAIM = InboxTable.SET + """
            -- inbox: claim for a replay
            with mine as materialized (
              select true as is_mine from %3$s where number = ? and owner = ? and state = 'running'
            ), asked as materialized (
              select c.*, o.record_offset
                from unnest(?::text[], ?::text[], ?::bytea[], ?::boolean[], ?::bigint[]) with ordinality
                     as c (handler, event_id, key_hash, claims, event_source, place)
                join unnest(?::bigint[]) with ordinality as o (record_offset, place) using (place)
            ), parked as materialized (
              select p.event_id, p.event_source from %2$s p
               where p.consumer_group = ? and p.handler = ?
                 and p.event_id = any (array(select a.event_id from asked a))
                 and p.state <> 'begun'
            ), held as materialized (
              select p.key_hash, min(p.record_offset) as record_offset from %2$s p
               where p.consumer_group = ? and p.handler = ? and p.topic = ?
                 and p.key_hash = any (array(select a.key_hash from asked a))
                 and p.state in ('retry', 'behind', 'dead')
                 and p.partition = ?
               group by p.key_hash
            ), known as materialized (
              %5$s
            ), wanted as materialized (
              select a.handler, a.event_id, a.event_source, a.place,
                     %6$s or %7$s as done,
                     exists (select from held h where h.key_hash = a.key_hash and h.record_offset < a.record_offset)
                       as held
                from asked a
            ), claimed as (
              %8$s
            )
            select w.place,
                   case when (w.event_id, w.event_source) in (select event_id, event_source from claimed) then 'TO_HANDLE'
                        when w.held and not w.done then 'TO_FOLLOW'
                        else 'DONE' end as result,
                   exists (select from mine) as is_mine
              from wanted w""" + InboxTable.RESET.formatted(ClaimSession.SELECT);

    private static final String KNOWN_TO_INBOX = """
            select i.event_id, i.event_source from %1$s i
               where i.consumer_group = ? and i.handler = ?
                 and i.event_id = any (array(select a.event_id from asked a))""";

    private static final String KNOWN_TO_JOB = """
            select r.event_id, r.event_source from %4$s r
               where r.job = ? and r.event_id = any (array(select a.event_id from asked a))""";

    private static final String TO_CLAIM = """
            from wanted w
               where not w.done and not w.held and exists (select from mine)
               order by w.handler collate "C", w.event_id collate "C", w.event_source
              on conflict do nothing
              returning event_id, event_source""";

    private static final String BY_INBOX = """
            insert into %1$s (consumer_group, handler, event_id, event_source)
              select ?, w.handler, w.event_id, w.event_source
            """ + "  " + TO_CLAIM;

    /** The inbox knows the event from then on, too. */
    private static final String BY_JOB = """
            insert into %4$s (job, event_id, event_source)
              select ?, w.event_id, w.event_source
            """ + "  " + TO_CLAIM + """

            ), noted as (
              insert into %1$s (consumer_group, handler, event_id, event_source)
              select ?, ?, c.event_id, c.event_source
                from claimed c
               order by c.event_id collate "C", c.event_source
              on conflict do nothing""";

    private static String isAmong(String rows) {
        return """
                ((a.event_id, a.event_source) in (select event_id, event_source from %1$s)
                 or a.event_id in (select event_id from %1$s where event_source = 0)
                 or (a.event_source = 0 and a.event_id in (select event_id from %1$s)))""".formatted(rows);
    }

    /** Also deletes the inbox rows, if this transaction has written them. */
    private static final String UNCLAIM = """
            -- inbox: delete claims of a replay
            with asked as materialized (
              select * from unnest(?::text[], ?::text[], ?::bigint[]) as c (handler, event_id, event_source)
            ), noted as (
              delete from %1$s i using asked a
               where i.consumer_group = ? and i.handler = a.handler and i.event_id = a.event_id
                 and i.event_source = a.event_source and i.xmin = pg_current_xact_id()::xid
            )
            delete from %2$s r using asked a
             where r.job = ? and r.event_id = a.event_id and r.event_source = a.event_source""";

    /** A parked event has not been handled. So its retry can claim it in the inbox, as any other. */
    private static final String LEAVE = """
            -- inbox: leave a parked event to its retry
            with mine as (
              insert into %2$s (job, event_id, event_source) values (?, ?, ?) on conflict do nothing returning true
            ), forgotten as (
              delete from %1$s
               where consumer_group = ? and handler = ? and event_id = ? and (? = 0 or event_source in (0, ?))
                 and exists (select from mine)
            )
            select from mine""";

    /** An instance that still believes to have such a job can claim nothing for it. */
    private static final String DELETE_OLD = """
            -- inbox: delete claims of replays that are over
            delete from %1$s
             where ctid = any (array(
               select r.place
                 from %2$s j
                cross join lateral (select r.ctid as place from %1$s r where r.job = j.number limit ?) r
                where j.ended_at < clock_timestamp() - interval '1 hour'
                limit ?))""";

    private final String claimByInbox;
    private final String claimByJob;
    private final String unclaim;
    private final String leave;
    private final String deleteOld;

    private ReplayedTable(SqlIdentifier inbox) {
        this.claimByInbox = claim(inbox, KNOWN_TO_INBOX, BY_INBOX);
        this.claimByJob = claim(inbox, KNOWN_TO_JOB, BY_JOB);
        this.unclaim = UNCLAIM.formatted(inbox.sql(), ReplayTable.claims(inbox).sql());
        this.leave = LEAVE.formatted(inbox.sql(), ReplayTable.claims(inbox).sql());
        this.deleteOld = DELETE_OLD.formatted(
                ReplayTable.claims(inbox).sql(), ReplayTable.name(inbox).sql());
    }

    private static String claim(SqlIdentifier inbox, String known, String claimed) {
        String statement = CLAIM.replace("%5$s", known)
                .replace("%6$s", isAmong("parked"))
                .replace("%7$s", isAmong("known"))
                .replace("%8$s", claimed);
        return statement.formatted(
                inbox.sql(),
                ParkedTable.name(inbox).sql(),
                ReplayTable.name(inbox).sql(),
                ReplayTable.claims(inbox).sql());
    }

    /**
     * The table of an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static ReplayedTable of(SqlIdentifier inbox) {
        return new ReplayedTable(inbox);
    }

    /**
     * Claims events for a job. All are answered; of an event that is there twice, only the first copy.
     *
     * @param deliveries of the job's handler, and of one partition of its topic
     * @return the session of the connection and its transaction; null if the job is over, or another instance has it
     */
    public @Nullable ClaimSession claim(
            Connection connection, ReplayJob job, UUID owner, List<Delivery> deliveries, ClaimSink sink)
            throws SQLException {
        ClaimParameters asked = new ClaimParameters(deliveries);
        boolean isMine = true;
        try (PreparedStatement statement = connection.prepareStatement(job.isAgain() ? claimByJob : claimByInbox)) {
            statement.setLong(1, job.number());
            statement.setObject(2, owner);
            int i = asked.bind(connection, statement, 2);
            statement.setArray(++i, connection.createArrayOf("bigint", asked.offsets()));
            bindRest(statement, i, job, deliveries.get(0).event());
            InboxTable.executeByIndex(statement);
            try (ResultSet rows = statement.getResultSet()) {
                while (rows.next()) {
                    isMine = rows.getBoolean("is_mine");
                    sink.accept(asked.at(rows.getInt("place")), ClaimResult.valueOf(rows.getString("result")));
                }
            }
            statement.getMoreResults();
            try (ResultSet session = statement.getResultSet()) {
                session.next();
                return isMine ? ClaimSession.read(session) : null;
            }
        }
    }

    private static void bindRest(PreparedStatement statement, int before, ReplayJob job, ReceivedEvent first)
            throws SQLException {
        int i = before;
        statement.setString(++i, job.group());
        statement.setString(++i, job.handler());
        statement.setString(++i, job.group());
        statement.setString(++i, job.handler());
        statement.setString(++i, job.topic());
        statement.setInt(++i, first.record().partition());
        if (job.isAgain()) {
            statement.setLong(++i, job.number());
            statement.setLong(++i, job.number());
            statement.setString(++i, job.group());
            statement.setString(++i, job.handler());
        } else {
            statement.setString(++i, job.group());
            statement.setString(++i, job.handler());
            statement.setString(++i, job.group());
        }
    }

    /** Deletes claims that this transaction has made, of a job that handles what the inbox knows. */
    public void unclaim(Connection connection, ReplayJob job, List<Delivery> claimed) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(unclaim)) {
            int i = new ClaimParameters(claimed).bindIdentities(connection, statement);
            statement.setString(++i, job.group());
            statement.setLong(++i, job.number());
            statement.executeUpdate();
        }
    }

    /**
     * Has such a job leave an event that is parked, and the inbox forget it, so that its retry has an effect. If a
     * transaction that may have committed has not ended yet, waits for its end.
     *
     * @return false if the job has handled the event, or left it before; then nothing is changed
     */
    public boolean leave(Connection connection, ReplayJob job, Delivery delivery) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(leave)) {
            statement.setLong(1, job.number());
            statement.setString(2, delivery.event().id());
            statement.setLong(3, delivery.event().source());
            statement.setString(4, job.group());
            statement.setString(5, delivery.handler().name());
            statement.setString(6, delivery.event().id());
            statement.setLong(7, delivery.event().source());
            statement.setLong(8, delivery.event().source());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Deletes claims of jobs that have been over for an hour. Returns whether there may be more. */
    public boolean deleteOld(Connection connection, int most) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(deleteOld)) {
            statement.setInt(1, most);
            statement.setInt(2, most);
            return statement.executeUpdate() == most;
        }
    }
}
