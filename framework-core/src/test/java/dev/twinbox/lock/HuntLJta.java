package dev.twinbox.lock;
import dev.twinbox.*;
import dev.twinbox.config.Secret;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import jakarta.transaction.*;
import java.lang.reflect.Proxy;
import java.sql.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import javax.sql.DataSource;
/** A small JTA: one connection a transaction, bound to the thread. */
final class HuntLJta implements TransactionSynchronizationRegistry {
  final class Tx { Connection c; final List<Synchronization> syncs = new ArrayList<>(); boolean only; int status = Status.STATUS_ACTIVE; final Object key = new Object(); Integer isolation; }
  final ThreadLocal<Tx> current = new ThreadLocal<>();
  final String url; final Properties props = new Properties(); final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
  boolean pooled = true; volatile String first = null;
  final ExecutorService later = Executors.newCachedThreadPool(r -> { Thread t = new Thread(r); t.setDaemon(true); return t; });
  HuntLJta(String url, String user, String password) { this.url = url; props.setProperty("user", user); props.setProperty("password", password); }
  Connection physical() throws SQLException {
    Connection c = pooled ? idle.poll() : null;
    if (c != null && !c.isClosed()) return c;
    c = DriverManager.getConnection(url, props);
    if (first != null) try (Statement s = c.createStatement()) { s.execute(first); }
    return c;
  }
  void back(Connection c) { try { if (pooled && !c.isClosed()) idle.push(c); else c.close(); } catch (SQLException e) { } }
  DataSource ds() {
    return (DataSource) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (p, m, a) -> {
      if (!m.getName().equals("getConnection")) return m.getReturnType() == boolean.class ? false : null;
      Tx tx = current.get();
      if (tx != null && tx.c == null) { tx.c = physical(); tx.c.setAutoCommit(false); if (tx.isolation != null) tx.c.setTransactionIsolation(tx.isolation); }
      Connection real = tx == null ? physical() : tx.c;
      return Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Connection.class}, (q, n, b) -> {
        if (n.getName().equals("close")) { if (tx == null) back(real); return null; }
        try { return n.invoke(real, b); } catch (java.lang.reflect.InvocationTargetException e) { throw e.getCause(); }
      });
    });
  }
  Tx begin() { Tx t = new Tx(); current.set(t); return t; }
  Tx suspend() { Tx t = current.get(); current.remove(); return t; }
  void resume(Tx t) { current.set(t); }
  boolean commit() throws SQLException {
    Tx t = current.get(); SQLException failed = null;
    boolean ok = !t.only;
    if (ok) for (Synchronization s : List.copyOf(t.syncs)) s.beforeCompletion();
    ok = !t.only;
    try { if (t.c != null) { if (ok) t.c.commit(); else t.c.rollback(); } } catch (SQLException e) { ok = false; failed = e; }
    end(t, ok);
    if (failed != null) throw failed;
    return ok;
  }
  void rollback() throws SQLException { Tx t = current.get(); t.only = true; commit(); }
  void end(Tx t, boolean ok) {
    if (t.c != null) { try { if (!t.c.isClosed()) { if (t.isolation != null) t.c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED); t.c.setAutoCommit(true); } } catch (SQLException e) { } back(t.c); }
    current.remove(); t.status = ok ? Status.STATUS_COMMITTED : Status.STATUS_ROLLEDBACK;
    for (Synchronization s : t.syncs) s.afterCompletion(t.status);
  }
  interface Body { void run() throws Exception; }
  boolean tx(Body b) throws Exception { return tx(null, b); }
  boolean tx(Integer isolation, Body b) throws Exception {
    Tx outer = suspend(); Tx t = begin(); t.isolation = isolation;
    try { b.run(); } catch (Exception e) { rollback(); resume(outer); throw e; }
    try { return commit(); } finally { resume(outer); }
  }
  void runNew(Runnable r) {
    Tx outer = suspend(); begin();
    try { r.run(); try { commit(); } catch (SQLException e) { throw new RuntimeException(e); } } finally { if (outer == null) current.remove(); else resume(outer); }
  }
  long exec(String sql, Object... args) throws SQLException { try (Connection c = ds().getConnection(); PreparedStatement s = c.prepareStatement(sql)) { for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]); return s.execute() ? 0 : s.getUpdateCount(); } }
  String one(String sql, Object... args) throws SQLException { try (Connection c = ds().getConnection(); PreparedStatement s = c.prepareStatement(sql)) { for (int i = 0; i < args.length; i++) s.setObject(i + 1, args[i]); try (ResultSet r = s.executeQuery()) { return r.next() ? r.getString(1) : "-"; } } }
  public Object getTransactionKey() { Tx t = current.get(); return t == null ? null : t.key; }
  public void putResource(Object k, Object v) {} public Object getResource(Object k) { return null; }
  public void registerInterposedSynchronization(Synchronization s) { Tx t = current.get(); if (t == null) throw new IllegalStateException("no tx"); t.syncs.add(s); }
  public int getTransactionStatus() { Tx t = current.get(); return t == null ? Status.STATUS_NO_TRANSACTION : t.only ? Status.STATUS_MARKED_ROLLBACK : t.status; }
  public void setRollbackOnly() { Tx t = current.get(); if (t == null) throw new IllegalStateException("no tx"); t.only = true; }
  public boolean getRollbackOnly() { return current.get().only; }

  /** An application. */
  static final class App {
    final HuntLJta jta; final FenceTable fences; final FencedLock.Store store; final LockGrants grants; final QuickLeases leases; final LockDatabase db; final LockSchema schema;
    App(HuntLJta jta, String schema, QuickLeases leases) {
      this.jta = jta; this.leases = leases; this.schema = LockSchema.of(new SqlIdentifier(schema, "outbox_event"));
      fences = new FenceTable(this.schema); db = new LockDatabase("java:hunt", jta, jta::runNew, jta.ds());
      store = new FencedLock.Store(db, fences, leases, jta.later); grants = new LockGrants(store);
    }
    Optional<KeyLock> tryLock(String key, Duration lease) {
      LockRules.checkKey(key); LockRules.checkLease(lease);
      try { return grants.grant(key, lease); } catch (SQLException e) { throw new TwinboxException("cannot be taken: " + e.getSQLState() + " " + e.getMessage() + " | REMEDY: " + LockFailures.remedy(e), e); }
    }
    boolean inTx(String key) throws SQLException { db.requireTransaction("x"); return db.inCallersTransaction(c -> fences.lockInTransaction(c, key)); }
    List<String> problems() throws SQLException { return db.inNewTransaction(schema::problems); }
  }
  static RedisLeases redis(String url, String user, String password) {
    return new RedisLeases(new LockConfiguration.Redis(RedisAddress.parse(url), user, password == null ? null : new Secret(password)), () -> "twinbox:public.outbox_lock:");
  }
  static String thrown(Callable<?> c) { try { return String.valueOf(c.call()); } catch (Throwable e) { return e.getClass().getSimpleName() + ": " + String.valueOf(e.getMessage()).replace('\n', ' '); } }
  static long ms(long t) { return (System.nanoTime() - t) / 1_000_000; }
  static void say(String s) { System.out.println("  " + s); }
}
