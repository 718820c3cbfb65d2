package dev.twinbox.lock;
import static dev.twinbox.lock.HuntLJta.*;
import dev.twinbox.*;
import dev.twinbox.fixtures.*;
import java.sql.*;
import java.text.Normalizer;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.junit.jupiter.api.Test;
public class HuntLDatabaseIT {
  static final String SQL = """
    create sequence outbox_lock_token as bigint;
    create table outbox_lock (key text collate "C" primary key check (octet_length(key) between 1 and 1000),
      token bigint not null check (token > 0), lease_until timestamptz not null) with (fillfactor = 70);
    create table effect(id bigserial primary key, what text, token bigint);
    """;
  static PostgresServer pg; static int n;
  static synchronized PostgresServer pg() { if (pg == null) pg = PostgresServer.create().start(); return pg; }
  static HuntLJta db() throws SQLException { String name = "h" + (n++); String url = pg().createDatabase(name); HuntLJta j = new HuntLJta(url, pg().user(), pg().password()); j.exec(SQL); return j; }
  static Duration ms_(long m) { return Duration.ofMillis(m); }
  static final Duration MIN = Duration.ofMinutes(1);

  @Test void a01_keysAtTheEdges() throws Exception {
    App a = new App(db(), null, null);
    for (String k : new String[] {"", null, "\0", "a\0b", "\uD83D", "\uDE00x", "x".repeat(1000), "x".repeat(1001), "x".repeat(65536), "\uD83D\uDE00".repeat(250), "ä".repeat(500), "ä".repeat(501)})
      say((k == null ? "null" : k.length() > 8 ? k.substring(0, 2) + "*" + k.length() : k.replace('\0', '0')) + " -> " + thrown(() -> a.tryLock(k, MIN).isPresent()));
    String[] all = {"a", "A", "a ", " a", "é", Normalizer.normalize("é", Normalizer.Form.NFD), "%", "_", "'", "\\", "\n", "\u200b", "ß", "SS"};
    for (String k : all) say("'" + k.replace("\n", "\\n") + "' granted " + a.tryLock(k, MIN).isPresent() + ", again " + a.tryLock(k, MIN).isPresent());
    for (String k : all) a.jta.tx(() -> { if (!a.inTx(k)) say("advisory of '" + k + "' refused"); });
  }
  @Test void a02_leasesAtTheEdges() throws Exception {
    App a = new App(db(), null, null); int i = 0;
    for (Duration d : new Duration[] {null, Duration.ZERO, Duration.ofNanos(999_999), ms_(-1), ms_(1), Duration.ofNanos(1_999_999), Duration.ofDays(1), Duration.ofDays(1).plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE, 999_999_999), Duration.ofSeconds(Long.MIN_VALUE)}) {
      String k = "k" + i++;
      say(d + " -> " + thrown(() -> { KeyLock l = a.tryLock(k, d).get(); return "held " + l.isHeld() + ", extend " + l.extend(d) + " left " + a.jta.one("select lease_until - clock_timestamp() from outbox_lock where key = ?", k); }));
    }
  }
  @Test void a04_stressOfFences() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    AtomicIntegerArray in = new AtomicIntegerArray(3); AtomicInteger overlaps = new AtomicInteger(), passed = new AtomicInteger(), refused = new AtomicInteger(), grants = new AtomicInteger(), outoforder = new AtomicInteger(), committed = new AtomicInteger(), kept = new AtomicInteger();
    AtomicLongArray latest = new AtomicLongArray(3);
    Map<String, AtomicInteger> odd = new ConcurrentHashMap<>();
    long end = System.nanoTime() + Long.getLong("hunt.seconds", 25) * 1_000_000_000L;
    List<Thread> ts = new ArrayList<>();
    for (int i = 0; i < 10; i++) { int seed = i; Thread t = new Thread(() -> {
      Random r = new Random(seed); KeyLock[] mine = new KeyLock[3];
      while (System.nanoTime() < end) { int k = r.nextInt(3); String key = "k" + k;
        try {
          if (mine[k] == null || r.nextInt(4) == 0) { Optional<KeyLock> g = a.tryLock(key, ms_(1 + r.nextInt(15))); if (g.isPresent()) { mine[k] = g.get(); grants.incrementAndGet(); } }
          KeyLock l = mine[k]; if (l == null) continue;
          if (r.nextInt(10) == 0) l.extend(ms_(5));
          Integer iso = switch (r.nextInt(6)) { case 0 -> Connection.TRANSACTION_REPEATABLE_READ; case 1 -> Connection.TRANSACTION_SERIALIZABLE; default -> null; };
          boolean[] counted = {false};
          try {
            boolean ok = j.tx(iso, () -> {
              if (r.nextInt(3) == 0) j.one("select 1");
              l.fence(); passed.incrementAndGet();
              if (in.incrementAndGet(k) != 1) overlaps.incrementAndGet(); counted[0] = true;
              if (l.token() < latest.get(k)) outoforder.incrementAndGet(); latest.set(k, l.token());
              if (r.nextInt(4) == 0) l.extend(ms_(3));
              if (r.nextInt(4) == 0) l.fence();
              if (r.nextInt(6) == 0) l.close();
              j.exec("insert into effect(what, token) values (?, ?)", key, l.token());
              if (r.nextInt(5) == 0) Thread.sleep(r.nextInt(10));
              if (r.nextInt(8) == 0) { in.decrementAndGet(k); counted[0] = false; throw new IllegalStateException("wanted"); }
              in.decrementAndGet(k); counted[0] = false;
            });
            if (ok) committed.incrementAndGet();
          } finally { if (counted[0]) in.decrementAndGet(k); }
          if (r.nextInt(5) == 0) l.close();
        } catch (StaleLockException e) { refused.incrementAndGet(); mine[k] = null; }
        catch (IllegalStateException e) { }
        catch (Exception e) { odd.computeIfAbsent(e.getClass().getSimpleName() + " " + String.valueOf(e.getMessage()).replaceAll("\\d+", "#").replaceAll("k#", "k"), x -> new AtomicInteger()).incrementAndGet(); mine[k] = null; }
      } }); t.start(); ts.add(t); }
    Thread deleter = new Thread(() -> { Random r = new Random(); while (System.nanoTime() < end) try { Thread.sleep(50); j.exec("delete from outbox_lock where key = ?", "k" + r.nextInt(3)); } catch (Exception e) { } }); deleter.start();
    for (Thread t : ts) t.join();
    say("grants " + grants + " passed " + passed + " committed " + committed + " refused " + refused + " OVERLAPS " + overlaps + " older after newer " + outoforder + " rows " + j.one("select count(*) from effect") + " other " + odd);
    say("tokens out of the order of ids (per key, committed): " + j.one("select count(*) from (select token, lag(token) over (partition by what order by id) p from effect) x where token < p"));
  }
  @Test void a05_sequenceGoesBack() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    KeyLock old = a.tryLock("k", ms_(1)).get(); Thread.sleep(20);
    KeyLock mid = a.tryLock("k", MIN).get(); mid.close();
    j.one("select setval('outbox_lock_token', 1, false)");   // as after a switch-over by logical replication, which copies no sequences
    KeyLock now = a.tryLock("k", MIN).get();
    say("old token " + old.token() + ", new token " + now.token() + "; STALE fence and write: " + thrown(() -> j.tx(() -> { old.fence(); j.exec("insert into effect(what) values ('stale')"); })));
    j.one("select setval('outbox_lock_token', 1, false)");
    KeyLock other = a.tryLock("k2", MIN).get(); say("row is there, sequence back: next token " + other.token());
  }
  @Test void a06_sequenceEnds() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); j.exec("alter sequence outbox_lock_token maxvalue 2");
    for (int i = 0; i < 4; i++) { int x = i; say(thrown(() -> a.tryLock("s" + x, MIN).get().token())); }
    j.exec("alter sequence outbox_lock_token maxvalue 3 cycle cache 5");
    for (int i = 4; i < 9; i++) { int x = i; say("cycle: " + thrown(() -> a.tryLock("s" + x, MIN).get().token())); }
    say("problems at deployment: " + a.problems());
  }
  @Test void a08_fenceWaitsLongerThanTenSeconds() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    CountDownLatch firstIn = new CountDownLatch(1); List<Thread> ts = new ArrayList<>();
    for (int i = 0; i < 3; i++) { int me = i; Thread t = new Thread(() -> { long t0 = System.nanoTime();
      try { j.tx(() -> { l.fence(); say("transaction " + me + " passed after " + ms(t0) + " ms"); firstIn.countDown(); Thread.sleep(9_000); }); } catch (Exception e) { say("transaction " + me + " after " + ms(t0) + " ms: " + e.getMessage()); } });
      t.start(); ts.add(t); if (i == 0) firstIn.await(); else Thread.sleep(500); }
    for (Thread t : ts) t.join();
  }
  @Test void a09_statementTimeout() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set statement_timeout = '300ms'"; App b = new App(q, null, null);
    HuntLJta.Tx t = j.begin(); j.exec("insert into outbox_lock values ('k', 999, clock_timestamp())"); HuntLJta.Tx held = j.suspend();   // a first grant whose process was stopped
    long t0 = System.nanoTime(); say("first grant beside another one, statement_timeout 300 ms: " + thrown(() -> b.tryLock("k", MIN)) + " after " + ms(t0));
    long t1 = System.nanoTime(); say("the same without: " + thrown(() -> a.tryLock("k", MIN)) + " after " + ms(t1));
    j.resume(held); j.rollback();
    KeyLock l = b.tryLock("z", MIN).get(); j.begin(); j.exec("select from outbox_lock where key = 'z' for update"); held = j.suspend();
    long t2 = System.nanoTime(); say("fence: " + thrown(() -> q.tx(l::fence)) + " after " + ms(t2));
    long t3 = System.nanoTime(); say("extend: " + thrown(() -> l.extend(MIN)) + " after " + ms(t3));
    long t4 = System.nanoTime(); l.close(); say("close returned after " + ms(t4)); j.resume(held); j.rollback();
    say("row after close: " + j.one("select count(*) from outbox_lock where key = 'z'"));
  }
  @Test void a10_lockTimeoutOfCaller() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    for (String v : List.of("0", "1ms", "5ms", "3s", "10s", "10001ms", "2min", "1h", "24d", "2147483647")) j.tx(() -> { j.exec("set local lock_timeout = '" + v + "'"); l.fence(); say("before " + v + ", after " + j.one("show lock_timeout")); });
    j.tx(() -> { j.exec("set local intervalstyle = 'iso_8601'"); j.exec("set local lock_timeout = '1500ms'"); l.fence(); say("iso_8601: " + j.one("show lock_timeout")); });
    for (String v : List.of("50ms", "0", "1h")) { HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set lock_timeout = '" + v + "'"; App b = new App(q, null, null);
      j.begin(); j.exec("select from outbox_lock where key = 'k' for update"); HuntLJta.Tx held = j.suspend();
      KeyLock same = new FencedLock(b.store, "k", l.token(), new FencedLock.Lease(null, FenceTable.Decider.DATABASE), System.nanoTime());
      long t = System.nanoTime(); say(v + ": fence behind a row's lock " + thrown(() -> q.tx(same::fence)) + " after " + ms(t)); j.resume(held); j.rollback(); }
  }
  @Test void a11_autosave() throws Exception {
    HuntLJta j = db(); 
    for (String save : List.of("always", "conservative")) { HuntLJta q = new HuntLJta(j.url + "?autosave=" + save, pg().user(), pg().password()); App b = new App(q, null, null);
      String k = "k" + save; KeyLock l = b.tryLock(k, ms_(1)).get(); Thread.sleep(10);
      q.tx(() -> { l.fence(); say(save + " failing statement: " + thrown(() -> q.one("select 1/0"))); say("  goes on: " + thrown(() -> q.one("select 1"))); say("  grant meanwhile: " + thrown(() -> new App(j, null, null).tryLock(k, MIN).isPresent())); });
      KeyLock m = b.tryLock(k, MIN).get(); j.begin(); j.exec("select from outbox_lock where key = ? for update", k); HuntLJta.Tx held = j.suspend();
      say("  fails at its limit, caught, goes on: " + thrown(() -> q.tx(() -> { q.exec("set local lock_timeout = '200ms'"); say(thrown(() -> { m.fence(); return 0; })); say("    lock_timeout " + thrown(() -> q.one("show lock_timeout"))); q.exec("insert into effect(what) values ('unfenced')"); })) + ", effects " + j.one("select count(*) from effect"));
      j.resume(held); j.rollback(); }
  }
  @Test void a12_queryModes() throws Exception {
    HuntLJta j = db();
    for (String mode : List.of("simple", "extended", "extendedForPrepared", "extendedCacheEverything")) for (String more : List.of("", "&prepareThreshold=1", "&prepareThreshold=0", "&binaryTransfer=true&prepareThreshold=-1", "&reWriteBatchedInserts=true&stringtype=unspecified", "&defaultRowFetchSize=1", "&options=-c%20bytea_output=escape%20-c%20datestyle=german")) {
      HuntLJta q = new HuntLJta(j.url + "?preferQueryMode=" + mode + more, pg().user(), pg().password()); App b = new App(q, null, null); 
      String said = thrown(() -> { String s = ""; for (int i = 0; i < 12; i++) { KeyLock l = b.tryLock("q" + i, MIN).get(); boolean again = b.tryLock("q" + i, MIN).isPresent(); q.tx(l::fence); boolean e = l.extend(MIN); q.tx(() -> { if (!b.inTx("q")) throw new IllegalStateException(); }); l.close(); if (again || !e || !b.tryLock("q" + i, ms_(1)).isPresent()) s += i + " again=" + again + " extend=" + e + ";"; } Thread.sleep(5); return s; });
      j.exec("delete from outbox_lock"); if (!said.isEmpty()) say(mode + more + ": " + said); }
    say("done");
  }
  @Test void a13_readOnly() throws Exception {
    HuntLJta j = db(); HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set default_transaction_read_only = on"; App b = new App(q, null, null);
    say("problems at deployment: " + thrown(b::problems)); say("tryLock: " + thrown(() -> b.tryLock("k", MIN)));
    App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    say("fence in a read-only transaction: " + thrown(() -> j.tx(() -> { j.exec("set transaction read only"); l.fence(); })));
    say("tryLockInTransaction in one: " + thrown(() -> j.tx(() -> { j.exec("set transaction read only"); say("got " + a.inTx("k")); })));
  }
  @Test void a14_rowSecurityAndGrants() throws Exception {
    HuntLJta j = db(); String r = "role" + n++; j.exec("create role " + r + " login password 'x'"); j.exec("grant select, insert, update, delete on outbox_lock to " + r); j.exec("grant usage on sequence outbox_lock_token to " + r);
    HuntLJta q = new HuntLJta(j.url, r, "x"); App b = new App(q, null, null); say("problems " + b.problems()); KeyLock l = b.tryLock("k", MIN).get();
    j.exec("alter table outbox_lock enable row level security"); say("problems with policies " + b.problems());
    say("no policy: tryLock new key " + thrown(() -> b.tryLock("n", MIN))); say("  held key " + thrown(() -> b.tryLock("k", MIN))); say("  fence " + thrown(() -> q.tx(l::fence))); say("  extend " + thrown(() -> l.extend(MIN)) + " isHeld " + l.isHeld());
    j.exec("create policy ins on outbox_lock for insert with check (true)"); j.exec("create policy sel on outbox_lock for select using (key like 'v%')"); say("policies that hide: tryLock hidden new key " + thrown(() -> b.tryLock("n2", MIN))); say("  hidden key that is free " + thrown(() -> b.tryLock("k", MIN)));
    j.exec("alter table outbox_lock disable row level security");
    for (String what : List.of("select", "insert", "update", "delete")) { j.exec("revoke " + what + " on outbox_lock from " + r); KeyLock m = new App(j, null, null).tryLock("r" + what, MIN).get();
      KeyLock same = new FencedLock(b.store, "r" + what, m.token(), new FencedLock.Lease(null, FenceTable.Decider.DATABASE), System.nanoTime() + 1_000_000_000_000L);
      say("without " + what + ": tryLock " + thrown(() -> b.tryLock("x" + what, MIN)) + "; fence " + thrown(() -> q.tx(same::fence)) + "; extend " + thrown(() -> same.extend(MIN))); same.close(); j.exec("grant " + what + " on outbox_lock to " + r); }
    j.exec("revoke usage on sequence outbox_lock_token from " + r); say("without the sequence: " + thrown(() -> b.tryLock("seq", MIN)) + " problems " + b.problems());
  }
  @Test void a15_searchPath() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); j.exec("create schema tenant"); j.exec("set search_path = tenant; create sequence outbox_lock_token as bigint; create table outbox_lock (key text collate \"C\" primary key, token bigint not null, lease_until timestamptz not null); reset search_path");
    KeyLock l = a.tryLock("k", MIN).get();
    say("fence with another search_path that has such a table: " + thrown(() -> j.tx(() -> { j.exec("set local search_path = tenant"); l.fence(); })));
    say("  isHeld afterwards " + l.isHeld() + ", extend " + thrown(() -> l.extend(MIN)));
    KeyLock m = a.tryLock("k2", MIN).get(); j.exec("create schema empty"); say("  ... that has none: " + thrown(() -> j.tx(() -> { j.exec("set local search_path = empty"); m.fence(); })));
    HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set search_path = tenant"; App b = new App(q, null, null);
    say("a session that is left in the tenant's schema gets the same key: " + b.tryLock("k2", MIN).isPresent());
    KeyLock t = a.tryLock("tmp", MIN).get(); say("temporary table of the name: " + thrown(() -> j.tx(() -> { j.exec("create temporary table outbox_lock (key text, token bigint, lease_until timestamptz) on commit drop"); j.exec("insert into outbox_lock values ('tmp', ?, now())", t.token()); t.fence(); say("passed by the temporary table; grant meanwhile: " + thrown(() -> { j.exec("update public.outbox_lock set token = token where false"); return "-"; })); })));
  }
  @Test void a16_sessionIsEnded() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", ms_(1)).get(); Thread.sleep(20);
    HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set idle_in_transaction_session_timeout = '300ms'"; App b = new App(q, null, null);
    KeyLock same = new FencedLock(b.store, "k", l.token(), new FencedLock.Lease(null, FenceTable.Decider.DATABASE), System.nanoTime());
    say(thrown(() -> q.tx(() -> { same.fence(); Thread.sleep(1500); say("grant after the session was ended: " + thrown(() -> a.tryLock("k", MIN).isPresent())); q.exec("insert into effect(what) values ('late')"); })) + ", effects " + j.one("select count(*) from effect"));
  }
  @Test void a17_prepared() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", ms_(1)).get(); Thread.sleep(20);
    Connection c = DriverManager.getConnection(j.url, j.props); c.setAutoCommit(false); a.fences.fence(c, "k", l.token()); try (Statement s = c.createStatement()) { s.execute("insert into effect(what) values ('in doubt')"); s.execute("prepare transaction 'g" + n++ + "'"); } c.close();
    pg().kill(); pg().start(); j.idle.clear();
    long t = System.nanoTime(); say("grant beside a transaction in doubt, after a crash: " + thrown(() -> a.tryLock("k", MIN).isPresent()) + " after " + ms(t));
    long t1 = System.nanoTime(); say("extend " + thrown(() -> l.extend(MIN)) + " after " + ms(t1)); long t2 = System.nanoTime(); l.close(); say("close after " + ms(t2));
    j.exec("commit prepared 'g" + (n - 1) + "'"); say("then: grant " + a.tryLock("k", MIN).isPresent() + ", old fence " + thrown(() -> j.tx(l::fence)));
  }
  @Test void a18_isolation() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    for (int iso : new int[] {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE}) { String k = "k" + iso;
      KeyLock old = a.tryLock(k, ms_(1)).get(); Thread.sleep(20);
      say(iso + " stale, snapshot before the next grant: " + thrown(() -> j.tx(iso, () -> { j.one("select 1"); a.tryLock(k, MIN).get(); old.fence(); })));
      KeyLock now = a.tryLock(k + "b", MIN).get();
      say(iso + " extend within, then fence: " + thrown(() -> j.tx(iso, () -> { j.one("select 1"); now.extend(MIN); now.fence(); })) + " isHeld " + now.isHeld());
      say(iso + " deleted after the snapshot: " + thrown(() -> j.tx(iso, () -> { j.one("select 1"); HuntLJta.Tx t = j.suspend(); j.exec("delete from outbox_lock where key = ?", k + "b"); j.resume(t); now.fence(); })));
      HuntLJta q = new HuntLJta(j.url, pg().user(), pg().password()); q.first = "set default_transaction_isolation = '" + (iso == 8 ? "serializable" : "repeatable read") + "'"; App b = new App(q, null, null);
      say(iso + " default of the role: problems " + b.problems() + ", tryLock " + thrown(() -> b.tryLock("d" + iso, MIN)) + ", advisory " + thrown(() -> q.tx(() -> b.inTx("x"))));
      AtomicInteger got = new AtomicInteger(), none = new AtomicInteger(); Map<String, Integer> odd = new ConcurrentHashMap<>(); List<Thread> ts = new ArrayList<>();
      for (int i = 0; i < 8; i++) { Thread t = new Thread(() -> { for (int x = 0; x < 60; x++) try { Optional<KeyLock> g = b.tryLock("c", ms_(50)); if (g.isPresent()) { got.incrementAndGet(); q.tx(() -> { g.get().fence(); }); g.get().close(); } else none.incrementAndGet(); } catch (Exception e) { odd.merge(e.getClass().getSimpleName() + " " + String.valueOf(e.getMessage()).replaceAll("\\d+", "#"), 1, Integer::sum); } }); t.start(); ts.add(t); } for (Thread t : ts) t.join();
      say(iso + " crowd: got " + got + " none " + none + " odd " + odd); }
  }
  @Test void a19_heartbeatsWhileFenced() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    j.tx(() -> { l.fence(); for (int i = 0; i < 2_000; i++) l.extend(MIN); l.close(); });
    long t = System.nanoTime(); boolean free = false; while (!free && ms(t) < 60_000) { free = a.tryLock("k", MIN).isPresent(); Thread.sleep(10); }
    say("2000 extensions within one transaction, then close: key free " + free + " after " + ms(t) + " ms");
  }
  @Test void a21_interrupted() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); Thread.currentThread().interrupt();
    KeyLock l = a.tryLock("k", MIN).get(); say("tryLock, interrupted " + Thread.currentThread().isInterrupted()); j.tx(l::fence); say("extend " + l.extend(MIN)); l.close(); say("still interrupted " + Thread.interrupted() + ", free " + a.tryLock("k", MIN).isPresent());
  }
  @Test void a22_clockOfDatabase() throws Exception {
    for (Duration ahead : new Duration[] {Duration.ofHours(2), Duration.ofHours(30)}) { PostgresServer p = PostgresServer.create().withClock(ahead).start(); try { String url = p.createDatabase("clock"); HuntLJta j = new HuntLJta(url, p.user(), p.password()); j.exec(SQL); App a = new App(j, null, null);
      KeyLock l = a.tryLock("k", ms_(10)).get(); j.idle.clear(); p.stop(); p.withClock(Duration.ZERO).start(); Thread.sleep(100); say("granted for 10 ms while the clock was " + ahead + " ahead; now right: free " + a.tryLock("k", MIN).isPresent() + ", lease ends in " + j.one("select lease_until - clock_timestamp() from outbox_lock")); 
      say("  holder's fence: " + thrown(() -> j.tx(l::fence))); } finally { p.close(); } }
  }
  @Test void a23_infinity() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    for (String v : List.of("infinity", "-infinity", "294276-12-31", "4713-01-01 BC")) { String k = "k" + v; j.exec("insert into outbox_lock values (?, 1, '" + v + "')", k); for (FenceTable.Decider d : FenceTable.Decider.values()) say(v + " " + d + " -> " + thrown(() -> a.db.inNewTransaction(c -> { OptionalLong t = a.fences.grant(c, k, MIN, d); c.rollback(); return t; }))); }
  }
  @Test void a24_removalIsMissed() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null);
    j.exec("insert into outbox_lock select 'old ' || i, i, clock_timestamp() - interval '49 hours' from generate_series(1, 3000) i"); j.one("select setval('outbox_lock_token', 998)");
    a.tryLock("x1", MIN); j.one("select nextval('outbox_lock_token')"); a.tryLock("x2", MIN); Thread.sleep(1500);
    say("token 1000 went to a loser: old rows left " + j.one("select count(*) from outbox_lock where key like 'old%'")); j.one("select setval('outbox_lock_token', 1999)"); a.tryLock("x3", MIN); Thread.sleep(3000);
    say("token 2000 granted: left " + j.one("select count(*) from outbox_lock where key like 'old%'"));
  }
  @Test void a25_answerOfCommitIsLost() throws Exception {
    HuntLJta j = db(); TcpProxy proxy = TcpProxy.to("127.0.0.1", pg().port());
    HuntLJta q = new HuntLJta(pg().jdbcUrl("h" + (n - 1), proxy) + "?socketTimeout=2", pg().user(), pg().password());
    q.exec("select 1"); App b = new App(q, null, null); App a = new App(j, null, null);
    Thread t = new Thread(() -> { try { while (!"1".equals(j.one("select count(*) from pg_stat_activity where query ilike 'COMMIT%' and state = 'active' and pid <> pg_backend_pid()"))) Thread.onSpinWait(); } catch (Exception e) { } });
    j.exec("create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return new; end $$"); j.exec("create constraint trigger slow after insert on outbox_lock deferrable initially deferred for each row execute function slow()");
    Thread h = new Thread(() -> { try { Thread.sleep(600); proxy.holdAnswers(); } catch (Exception e) { } }); h.start();
    say("tryLock: " + thrown(() -> b.tryLock("k", Duration.ofHours(12)))); proxy.cut(); proxy.close();
    say("the key afterwards, for another one: " + a.tryLock("k", MIN).isPresent() + ", lease ends in " + j.one("select lease_until - clock_timestamp() from outbox_lock"));
  }
  @Test void a26_manyThreadsAndClose() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    say("nested: " + thrown(() -> j.tx(() -> { l.fence(); say("inner: " + thrown(() -> j.tx(l::fence))); })));
    CountDownLatch in = new CountDownLatch(1); Thread t = new Thread(() -> { try { j.tx(() -> { l.fence(); in.countDown(); Thread.sleep(1500); }); } catch (Exception e) { say("" + e); } }); t.start(); in.await();
    long t0 = System.nanoTime(); say("extend beside " + l.extend(MIN) + " after " + ms(t0)); t0 = System.nanoTime(); say("second transaction " + thrown(() -> j.tx(l::fence)) + " after " + ms(t0)); t0 = System.nanoTime(); l.close(); say("close after " + ms(t0)); l.close(); t.join(); Thread.sleep(300);
    say("after close: fence " + thrown(() -> j.tx(l::fence)) + ", extend " + l.extend(MIN) + ", isHeld " + l.isHeld() + ", free " + a.tryLock("k", MIN).isPresent());
    say("without transaction: " + thrown(() -> { l.fence(); return 0; }) );
    int bad = 0; for (int i = 0; i < 200; i++) { KeyLock m = a.tryLock("r" + i, MIN).get(); Thread[] x = new Thread[3]; for (int y = 0; y < 3; y++) { int z = y; x[y] = new Thread(() -> { try { if (z == 0) m.close(); else if (z == 1) m.extend(MIN); else j.tx(m::fence); } catch (Exception e) { } }); x[y].start(); } for (Thread y : x) y.join(); Thread.sleep(5); if (!a.tryLock("r" + i, MIN).isPresent()) { Thread.sleep(300); if (!a.tryLock("r" + i, MIN).isPresent()) bad++; } } say("close, extend and fence at once, 200 times: keys that stay locked " + bad);
  }
  @Test void a29_tableGoes() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get(); j.exec("alter table outbox_lock rename to old_lock");
    say("tryLock " + thrown(() -> a.tryLock("x", MIN)) + "; fence " + thrown(() -> j.tx(l::fence)) + "; extend " + thrown(() -> l.extend(MIN))); l.close();
    j.exec("alter table old_lock rename to outbox_lock"); j.exec("alter table outbox_lock drop constraint outbox_lock_pkey"); say("without primary key: problems " + a.problems() + ", tryLock " + thrown(() -> a.tryLock("x", MIN)));
    j.exec("create unique index on outbox_lock (lower(key))"); say("unique index on something else: " + thrown(() -> a.tryLock("x", MIN)));
    j.exec("create view v as select 1"); HuntLJta k = db(); k.exec("alter table outbox_lock add column must text not null"); App b = new App(k, null, null); say("a column more, not null: problems " + b.problems() + ", tryLock " + thrown(() -> b.tryLock("x", MIN)));
    HuntLJta u = db(); u.exec("alter table outbox_lock set unlogged"); App c = new App(u, null, null); KeyLock m = c.tryLock("x", ms_(1)).get(); say("unlogged: problems " + c.problems());
  }
  @Test void a30_encodingAndCollation() throws Exception {
    try (Connection c = pg().connect("postgres"); Statement s = c.createStatement()) { s.execute("create database lat encoding 'LATIN1' lc_collate 'C' lc_ctype 'C' template template0"); }
    HuntLJta j = new HuntLJta(pg().jdbcUrl("lat"), pg().user(), pg().password()); j.exec(SQL); App a = new App(j, null, null); say("LATIN1: problems " + a.problems() + ", tryLock " + thrown(() -> a.tryLock("☃", MIN)));
    HuntLJta k = db(); k.exec("drop table outbox_lock; create collation ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create table outbox_lock (key text collate ci primary key, token bigint not null, lease_until timestamptz not null)"); App b = new App(k, null, null);
    say("key column with a collation that ignores case: problems " + thrown(b::problems) + " A " + thrown(() -> b.tryLock("A", MIN)) + " a " + thrown(() -> b.tryLock("a", MIN)));
  }
  @Test void a31_grantBesideLockedTable() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); KeyLock l = a.tryLock("k", MIN).get();
    for (String mode : List.of("ACCESS EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "ROW SHARE")) { j.begin(); j.exec("lock table outbox_lock in " + mode + " mode"); HuntLJta.Tx held = j.suspend(); long t = System.nanoTime(); String s = thrown(() -> a.tryLock("n" + mode, MIN)); say(mode + ": tryLock " + s + " after " + ms(t)); j.resume(held); j.rollback(); }
    j.begin(); j.exec("alter sequence outbox_lock_token increment 1"); HuntLJta.Tx held = j.suspend(); long t = System.nanoTime(); say("sequence altered: " + thrown(() -> a.tryLock("sq", MIN)) + " after " + ms(t)); j.resume(held); j.rollback();
    j.begin(); j.exec("select from outbox_lock where key = 'k' for update"); held = j.suspend(); t = System.nanoTime(); say("psql holds the row: tryLock " + thrown(() -> a.tryLock("k", MIN)) + " after " + ms(t)); long t1 = System.nanoTime(); say("extend " + l.extend(MIN) + " after " + ms(t1) + " isHeld " + l.isHeld()); j.resume(held); j.rollback();
  }
  @Test void a32_stoppedSynchronousStandby() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); j.exec("alter system set synchronous_standby_names = 'nobody'"); j.one("select pg_reload_conf()"); Thread.sleep(500);
    Thread t = new Thread(() -> { long t0 = System.nanoTime(); say("tryLock with a synchronous standby that is away: " + thrown(() -> a.tryLock("k", MIN)) + " after " + ms(t0)); }); t.setDaemon(true); t.start(); t.join(15_000); say("after 15 s still waiting: " + t.isAlive());
    j.exec("alter system reset synchronous_standby_names"); j.one("select pg_reload_conf()"); t.join(5_000);
  }

  /** As the guard asks: lease of 30 s, again and again. The first instance was stopped between its statement and its commit. */
  @Test void a00_guardsKeyIsBusyForLongerThanItsLease() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, null); Duration lease = Duration.ofSeconds(2);
    j.begin(); HuntLJta.Tx t = j.current.get(); try (Connection c = j.ds().getConnection()) { a.fences.grant(c, "inbox abc", lease, FenceTable.Decider.DATABASE); } j.suspend();
    long t0 = System.nanoTime(); int busy = 0; long longest = 0; while (ms(t0) < 12_000) { long t1 = System.nanoTime(); if (a.tryLock("inbox abc", lease).isEmpty()) busy++; longest = Math.max(longest, ms(t1)); Thread.sleep(200); }
    say("first grant of a stopped instance, lease 2 s: after 12 s asked " + busy + " times, always busy; longest question " + longest + " ms"); j.resume(t); j.commit();
    Thread.sleep(2500); KeyLock l = a.tryLock("inbox abc", lease).get(); Thread.sleep(2500);
    j.begin(); t = j.current.get(); try (Connection c = j.ds().getConnection()) { a.fences.grant(c, "inbox abc", lease, FenceTable.Decider.DATABASE); } j.suspend();
    t0 = System.nanoTime(); busy = 0; while (ms(t0) < 8_000) { if (a.tryLock("inbox abc", lease).isEmpty()) busy++; Thread.sleep(200); } say("later grant of a stopped instance, lease 2 s: after 8 s asked " + busy + " times, always busy"); j.resume(t); j.rollback();
  }
}
