package dev.twinbox.lock;
import static dev.twinbox.lock.HuntLJta.*;
import dev.twinbox.*;
import dev.twinbox.config.*;
import dev.twinbox.fixtures.*;
import io.smallrye.config.*;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.logging.*;
import org.junit.jupiter.api.Test;
public class HuntLRedisIT {
  static final Duration MIN = Duration.ofMinutes(1);
  static final List<String> LOGS = Collections.synchronizedList(new ArrayList<>());
  static final Logger ROOT = Logger.getLogger("dev.twinbox");
  static { ROOT.setUseParentHandlers(false); ROOT.setLevel(Level.ALL); ROOT.addHandler(new Handler() { { setLevel(Level.ALL); } public void publish(LogRecord r) { LOGS.add(r.getLevel() + " " + new SimpleFormatter().formatMessage(r)); } public void flush() {} public void close() {} });
    Logger jedis = Logger.getLogger("redis.clients"); jedis.setLevel(Level.ALL); jedis.addHandler(ROOT.getHandlers()[0]); }
  static void logs(String what) { synchronized (LOGS) { for (String l : LOGS) if (!l.startsWith("FINE")) say("    log: " + l); if (what != null) say("    in any log, also debug: " + LOGS.stream().filter(l -> l.contains(what)).toList()); LOGS.clear(); } }
  static HuntLJta db() throws Exception { return HuntLDatabaseIT.db(); }

  @Test void r01_wrongTypesAndNoExpiry() throws Exception {
    HuntLJta j = db(); RedisServer r = RedisServer.create().start(); App a = new App(j, null, redis(r.url(), null, null));
    r.ask("LPUSH twinbox:public.outbox_lock:list x"); say("a list has the name: tryLock " + thrown(() -> a.tryLock("list", MIN).isPresent())); logs(null);
    KeyLock l = a.tryLock("p", MIN).get(); r.ask("PERSIST twinbox:public.outbox_lock:p"); j.exec("update outbox_lock set lease_until = now() - interval '1 hour'");
    say("a lease without an end (its holder died): tryLock " + thrown(() -> a.tryLock("p", MIN).isPresent()) + ", ttl " + r.ask("PTTL twinbox:public.outbox_lock:p")); logs(null);
    say("  extend gives it an end again: " + l.extend(MIN) + ", ttl " + r.ask("PTTL twinbox:public.outbox_lock:p"));
    KeyLock m = a.tryLock("m", MIN).get(); r.ask("DEL twinbox:public.outbox_lock:m"); r.ask("HSET twinbox:public.outbox_lock:m a b"); say("the held key becomes a hash: extend " + thrown(() -> m.extend(MIN)) + " held " + m.isHeld()); logs(null); m.close(); say("after close: " + thrown(() -> a.tryLock("m", MIN).isPresent())); Thread.sleep(1100); say("a second later: " + thrown(() -> a.tryLock("m", MIN).isPresent()) + ", another key " + a.tryLock("n", MIN).isPresent()); logs(null);
    a.leases.close(); r.close();
  }
  /** Answers what it is told to; HELLO, AUTH and CLIENT as Redis would. */
  static final class Liar implements AutoCloseable {
    final ServerSocket s = new ServerSocket(0, 50, InetAddress.getLoopbackAddress()); volatile byte[] set = "+OK\r\n".getBytes(), get = "$-1\r\n".getBytes(), eval = ":1\r\n".getBytes(), hello = "*2\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n".getBytes(); volatile int drip; volatile String owner = ""; final AtomicInteger asked = new AtomicInteger();
    Liar() throws IOException { Thread t = new Thread(() -> { while (true) try { Socket c = s.accept(); Thread h = new Thread(() -> serve(c)); h.setDaemon(true); h.start(); } catch (IOException e) { return; } }); t.setDaemon(true); t.start(); }
    void serve(Socket c) { try (c) { c.setTcpNoDelay(true); BufferedReader in = new BufferedReader(new InputStreamReader(c.getInputStream(), StandardCharsets.ISO_8859_1)); String line;
      while ((line = in.readLine()) != null) { int n = Integer.parseInt(line.substring(1)); String[] w = new String[n]; for (int i = 0; i < n; i++) { in.readLine(); w[i] = in.readLine(); }
        String k = w[0].toUpperCase(Locale.ROOT); if (k.equals("SET")) { owner = w[2]; asked.incrementAndGet(); }
        byte[] out = switch (k) { case "SET" -> set; case "GET" -> new String(get, StandardCharsets.ISO_8859_1).replace("OWNER", "$" + owner.length() + "\r\n" + owner + "\r\n").getBytes(StandardCharsets.ISO_8859_1); case "EVAL" -> eval; case "HELLO" -> hello; default -> "+OK\r\n".getBytes(); };
        for (byte b : out) { c.getOutputStream().write(b); if (drip > 0) Thread.sleep(drip); } c.getOutputStream().flush(); if (out.length == 0) return; } } catch (Exception e) { } }
    String url() { return "redis://127.0.0.1:" + s.getLocalPort(); }
    public void close() throws IOException { s.close(); }
  }
  static final String[] REPLIES = {"+OK\r\n", ":1\r\n", ":0\r\n", "$-1\r\n", "$2\r\nxx\r\n", "*0\r\n", "*-1\r\n", "*1\r\n$1\r\nx\r\n", "$5000000000\r\n", "$2000000000\r\n", "*2000000000\r\n", "$abc\r\n", ":zzz\r\n", "$-7\r\n", "*-9\r\n", "-MOVED 1 127.0.0.1:1\r\n", "-ASK 1 127.0.0.1:1\r\n", "-MOVED nonsense\r\n", "-MOVED\r\n", "-READONLY You can't write against a read only replica.\r\n", "-LOADING Redis is loading the dataset in memory\r\n", "-NOAUTH Authentication required.\r\n", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", "-BUSY Redis is busy running a script.\r\n", "-MISCONF errors\r\n", "-MASTERDOWN Link with MASTER is down\r\n", "-NOREPLICAS Not enough good replicas to write.\r\n", "-CLUSTERDOWN Hash slot not served\r\n", "-TRYAGAIN\r\n", "-NOSCRIPT\r\n", "-UNKILLABLE\r\n", "-\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "", "\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "%1\r\n+a\r\n+b\r\n", ">2\r\n+a\r\n+b\r\n", "=15\r\ntxt:Some string\r\n", "(123\r\n", "!3\r\nERR\r\n", "+O", "$3\r\na", "\u0000\u0001\u0002"};
  @Test void r03_lies() throws Exception {
    HuntLJta j = db(); int i = 0;
    for (String what : List.of("set", "get", "eval", "hello")) for (String reply : REPLIES) try (Liar liar = new Liar()) {
      byte[] b = reply.getBytes(StandardCharsets.ISO_8859_1); liar.get = "OWNER".getBytes();
      switch (what) { case "set" -> liar.set = b; case "get" -> liar.get = b; case "eval" -> liar.eval = b; default -> liar.hello = b; }
      LOGS.clear(); RedisLeases leases = redis(liar.url(), null, null); App a = new App(j, null, leases); String k = "lie" + i++; long t = System.nanoTime();
      String said = thrown(() -> { Optional<KeyLock> g = a.tryLock(k, MIN); if (g.isEmpty()) return "none"; String e = thrown(() -> g.get().extend(MIN)); String c = thrown(() -> { g.get().close(); return "closed"; }); return "granted, extend " + e + ", " + c; });
      long took = ms(t); boolean odd = !said.matches("none|granted, extend (true|false), closed") || took > 400;
      if (odd || reply.startsWith("-MOVED") || reply.startsWith("*1") || reply.startsWith(":")) say((odd ? "ODD " : "") + what + " answers " + reply.strip().replace("\r\n", "|") + ": " + said + " after " + took + " ms; " + LOGS.stream().filter(l -> l.startsWith("WARN")).toList());
      try { leases.close(); } catch (RuntimeException e) { } }
    say("tried " + i);
  }
  @Test void r04_dripping() throws Exception {
    HuntLJta j = db(); try (Liar liar = new Liar()) { liar.get = "OWNER".getBytes(); App a = new App(j, null, redis(liar.url(), null, null)); a.tryLock("warm", MIN); liar.drip = 40; long t = System.nanoTime(); say("a byte each 40 ms: " + a.tryLock("d", MIN).isPresent() + " after " + ms(t) + " ms"); logs(null);
      liar.set = "$-1\r\n".getBytes(); t = System.nanoTime(); say("  refused: " + a.tryLock("d", MIN).isPresent() + " after " + ms(t) + " ms"); }
  }
  @Test void r05_aclOfTheDocumentation() throws Exception {
    for (String version : List.of("6.2", "7.0")) { HuntLJta j = db(); RedisServer r = null; Process p = null; int port;
      if (version.equals("6.2")) { r = RedisServer.create().start(); port = r.port(); } else { port = free(); p = debian(port); }
      say(version + " " + ask(port, "ACL SETUSER billing on >PASSWORD ~twinbox:* +@connection +set +get +del +pexpire +eval"));
      App a = new App(j, null, redis("redis://127.0.0.1:" + port + "/3", "billing", "PASSWORD")); LOGS.clear(); KeyLock l = a.tryLock("k", Duration.ofSeconds(2)).get(); say(" key is in Redis: " + ask(port, "ACL WHOAMI") + " extend " + l.extend(MIN)); l.close(); say(" free " + a.tryLock("k", MIN).isPresent() + " acl log " + ask(port, "ACL LOG")); logs("PASSWORD");
      for (String minus : List.of("-set", "-get", "-del", "-pexpire", "-eval", "-@connection", "-select", "-hello", "-client")) { ask(port, "ACL SETUSER x" + minus + " on >geheim123 ~twinbox:* +@connection +set +get +del +pexpire +eval " + minus); App b = new App(db(), null, redis("redis://127.0.0.1:" + port + "/3", "x" + minus, "geheim123")); String said = thrown(() -> { KeyLock m = b.tryLock("z" + minus, MIN).get(); String e = thrown(() -> m.extend(MIN)); m.close(); return "granted, extend " + e + ", then free " + b.tryLock("z" + minus, MIN).isPresent(); }); say(" without " + minus + ": " + said); logs("geheim"); }
      App w = new App(db(), null, redis("redis://127.0.0.1:" + port, "billing", "geheim-falsch")); say(" wrong password: " + thrown(() -> w.tryLock("w", MIN).isPresent())); logs("geheim");
      App d = new App(db(), null, redis("redis://127.0.0.1:" + port + "/9999", "billing", "PASSWORD")); say(" database 9999: " + thrown(() -> d.tryLock("w", MIN).isPresent())); logs(null);
      if (r != null) r.close(); else p.destroy(); }
  }
  static int free() throws IOException { try (ServerSocket s = new ServerSocket(0)) { return s.getLocalPort(); } }
  static String ask(int port, String line) throws IOException { try (Socket s = new Socket("127.0.0.1", port)) { s.setSoTimeout(2000); s.getOutputStream().write((line + "\r\n").getBytes()); return new BufferedReader(new InputStreamReader(s.getInputStream())).readLine(); } }
  static Process debian(int port, String... more) throws Exception { List<String> c = new ArrayList<>(List.of("/tmp/hunt-tools/root/usr/bin/redis-server", "--bind", "127.0.0.1", "--port", "" + port, "--save", "", "--dir", "/tmp/hunt-tools")); c.addAll(List.of(more)); ProcessBuilder b = new ProcessBuilder(c).redirectErrorStream(true).redirectOutput(new File("/tmp/hunt-tools/redis-" + port + ".log")); b.environment().put("LD_LIBRARY_PATH", "/tmp/hunt-tools/root/usr/lib/x86_64-linux-gnu"); Process p = b.start(); for (int i = 0; i < 200; i++) { try { ask(port, "PING"); return p; } catch (IOException e) { Thread.sleep(50); } } throw new IOException(Files.readString(Path.of("/tmp/hunt-tools/redis-" + port + ".log"))); }
  @Test void r07_evictionAndPressure() throws Exception {
    HuntLJta j = db(); int port = free(); Process p = debian(port, "--maxmemory", "2mb", "--maxmemory-policy", "allkeys-random"); App a = new App(j, null, redis("redis://127.0.0.1:" + port, null, null));
    KeyLock l = a.tryLock("k", MIN).get(); for (int i = 0; i < 3000 && !ask(port, "EXISTS twinbox:public.outbox_lock:k").equals(":0"); i++) ask(port, "SET fill" + i + " " + "x".repeat(4000));
    say("evicted: " + ask(port, "EXISTS twinbox:public.outbox_lock:k") + ", second holder " + a.tryLock("k", MIN).isPresent() + ", first: fence " + thrown(() -> j.tx(l::fence))); ask(port, "CONFIG SET maxmemory-policy noeviction"); ask(port, "CONFIG SET maxmemory 1"); say("full: " + thrown(() -> a.tryLock("full", MIN).isPresent())); logs(null); KeyLock[] h = new KeyLock[1];
    ask(port, "CONFIG SET maxmemory 0"); Thread.sleep(1100); h[0] = a.tryLock("h", MIN).get(); ask(port, "CONFIG SET maxmemory 1"); say("full: extend " + thrown(() -> h[0].extend(MIN))); h[0].close(); say("  closed, in Redis " + ask(port, "EXISTS twinbox:public.outbox_lock:h")); logs(null); ask(port, "CONFIG SET maxmemory 0"); Thread.sleep(1100);
    KeyLock s = a.tryLock("s", MIN).get(); ask(port, "SCRIPT FLUSH"); say("scripts flushed: extend " + s.extend(MIN)); ask(port, "CLIENT KILL TYPE normal"); say("connections killed: extend " + thrown(() -> s.extend(MIN)) + ", grant " + a.tryLock("s2", MIN).isPresent()); logs(null); ask(port, "CLIENT PAUSE 300"); long t = System.nanoTime(); say("paused: grant " + thrown(() -> a.tryLock("s3", MIN).isPresent()) + " after " + ms(t)); logs(null); Thread.sleep(1200);
    say("s3 now asked by another instance through Redis: " + new App(j, null, redis("redis://127.0.0.1:" + port, null, null)).tryLock("s3", MIN).isPresent());
    ask(port, "SHUTDOWN NOSAVE"); p.waitFor();
  }
  @Test void r09_burst() throws Exception {
    for (int threads : new int[] {40, 300}) { RedisServer r = RedisServer.create().start(); HuntLJta j = db(); App a = new App(j, null, redis(r.url(), null, null)); KeyLock held = a.tryLock("hot", MIN).get(); LOGS.clear(); CountDownLatch go = new CountDownLatch(1); AtomicInteger got = new AtomicInteger(), none = new AtomicInteger(), odd = new AtomicInteger(); long[] max = {0}; List<Thread> ts = new ArrayList<>();
      for (int i = 0; i < threads; i++) { Thread t = new Thread(() -> { try { go.await(); for (int x = 0; x < 20; x++) { long t0 = System.nanoTime(); if (a.tryLock("hot", MIN).isPresent()) got.incrementAndGet(); else none.incrementAndGet(); synchronized (max) { max[0] = Math.max(max[0], ms(t0)); } } } catch (Exception e) { odd.incrementAndGet(); if (odd.get() == 1) say("" + e); } }); t.start(); ts.add(t); } go.countDown(); for (Thread t : ts) t.join();
      say(threads + " threads ask for a held key: got " + got + " none " + none + " odd " + odd + ", slowest " + max[0] + " ms; connections to PostgreSQL " + j.idle.size()); logs(null); r.close(); for (var c : j.idle) c.close(); }
  }
  @Test void r10_names() throws Exception {
    HuntLJta j = db(); App a = new App(j, null, redis("redis://redis.example.invalid-zone.example", null, null));
    for (int i = 0; i < 3; i++) { int x = i; long t = System.nanoTime(); say("name server that does not answer, grant " + i + ": " + thrown(() -> a.tryLock("n" + x, MIN).isPresent()) + " after " + ms(t) + " ms"); }
    List<Thread> ts = new ArrayList<>(); Thread.sleep(11_000); long t0 = System.nanoTime(); for (int i = 0; i < 20; i++) { int x = i; Thread t = new Thread(() -> { long t1 = System.nanoTime(); String s = thrown(() -> a.tryLock("m" + x, MIN).isPresent()); say("  thread " + x + " " + s + " after " + ms(t1)); }); t.start(); ts.add(t); } for (Thread t : ts) t.join(); logs(null);
  }
  @Test void r14_afterUndeployment() throws Exception {
    RedisServer r = RedisServer.create().start(); HuntLJta j = db(); App a = new App(j, null, redis(r.url(), null, null)); KeyLock l = a.tryLock("u", MIN).get(); LOGS.clear(); a.leases.close(); say("closed pool: fence " + thrown(() -> j.tx(l::fence)) + " extend " + thrown(() -> l.extend(MIN))); l.close(); logs(null); say("in Redis " + r.ask("EXISTS twinbox:public.outbox_lock:u")); r.close();
  }
  @Test void r15_configuration() throws Exception {
    String[][] all = {{"twinbox.locks", "redis://:geheim@redis.example"}, {"twinbox.locks", "redis://redis.example?password=geheim"}, {"twinbox.locks", "REDIS"}, {"twinbox.locks", " redis "}, {"twinbox.locks", ""}, {"twinbox.lock", "redis"}, {"twinbox.locks.provider", "redis"}, {"twinbox.locks.redis.pasword", "geheim"}, {"twinbox.locks.redis.pwd", "geheim"}, {"twinbox.locks.redis.url", "redis://:geheim@redis.example"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://:geheim@redis.example"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://redis.example?password=geheim"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://:geheim%40redis.example"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://geheim:redis.example:99"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://redis.example:6379/geheim"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://[::1]:6379"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://10.0.0.1:6379:6380"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a.example,b.example"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis-sentinel://a.example/geheim"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "REDIS://a.example"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a.example/0/"}, {"twinbox.locks", "redis"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a", "twinbox.locks.redis.user", "billing:geheim"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a", "twinbox.locks.redis.password", ""}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a", "twinbox.locks.redis.password", "${NOT_THERE}"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a", "twinbox.locks.redis.password", "${NOT_THERE:}"}, {"twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://a", "twinbox.locks.redis.password", "ge heim\nx"}, {"twinbox.locks.data-source", "jdbc:postgresql://h/d?user=u&password=geheim"}, {"twinbox.locks.data-source", "postgres://u:geheim@h/d"}, {"twinbox.locks.lease", "PT1M"}, {"twinbox.locks.table", "x"}};
    for (String[] kv : all) { Map<String, String> m = new LinkedHashMap<>(); m.put("twinbox.locks.data-source", "java:app/jdbc/x"); for (int i = 0; i < kv.length; i += 2) m.put(kv[i], kv[i + 1]);
      String said = thrown(() -> { SmallRyeConfig c = new SmallRyeConfigBuilder().addDefaultInterceptors().withSources(new PropertiesConfigSource(m, "t", 100)).build(); LockConfiguration l = LockSettings.read(new SettingsReader(c, Set.of()), HuntLRedisIT.class.getClassLoader()); return "ACCEPTED " + l; });
      say((said.contains("geheim") ? "LEAK " : "") + String.join(" ", kv).replace("\n", "\\n") + "\n       -> " + said); }
  }

  @Test void r16_theTableChangesWithAnotherKey() throws Exception {
    String[] lines = new String[3]; int i = 0; LockConfiguration[] c = new LockConfiguration[3];
    for (Map<String, String> m : List.of(Map.of("twinbox.inbox.data-source", "java:app/jdbc/shop"), Map.of("twinbox.inbox.data-source", "java:app/jdbc/shop", "twinbox.outbox.data-source", "java:app/jdbc/shop", "twinbox.outbox.source", "/shop"), Map.of("twinbox.inbox.data-source", "java:app/jdbc/shop", "twinbox.locks.data-source", "jdbc/shop")))
      { c[i] = LockSettings.read(new SettingsReader(new SmallRyeConfigBuilder().addDefaultInterceptors().withSources(new PropertiesConfigSource(m, "t", 100)).build(), Set.of()), HuntLRedisIT.class.getClassLoader()); say(m + " -> " + c[i]); i++; }
    HuntLJta j = db(); j.exec("create sequence inbox_lock_token as bigint"); j.exec("create table inbox_lock (key text collate \"C\" primary key, token bigint not null, lease_until timestamptz not null)");
    App[] a = new App[2]; FencedLock.Store[] st = new FencedLock.Store[2]; KeyLock[] l = new KeyLock[2];
    for (int k = 0; k < 2; k++) { LockDatabase d = new LockDatabase("java:app/jdbc/shop", j, j::runNew, j.ds()); st[k] = new FencedLock.Store(d, new FenceTable(c[k].tables()), null, j.later); l[k] = new LockGrants(st[k]).grant("bill 42", MIN).orElse(null); say("version " + (k + 1) + " of the application, table " + c[k].tables().table() + ": granted " + (l[k] != null)); }
    j.tx(() -> { l[0].fence(); j.exec("insert into effect(what) values ('version 1')"); HuntLJta.Tx t = j.suspend(); j.tx(() -> { l[1].fence(); j.exec("insert into effect(what) values ('version 2')"); }); j.resume(t); });
    say("both fenced at the same time, effects " + j.one("select count(*) from effect"));
  }
}
