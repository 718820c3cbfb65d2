package dev.twinbox.lock;
import static dev.twinbox.lock.HuntLJta.*;
import dev.twinbox.*;
import java.io.*;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.junit.jupiter.api.Test;
public class HuntLPoolerIT {
  static final Duration MIN = Duration.ofMinutes(1);
  static Process bouncer(int port, int pg, String mode, String more) throws Exception {
    Path d = Files.createTempDirectory("bouncer"); Files.setPosixFilePermissions(d, java.nio.file.attribute.PosixFilePermissions.fromString("rwxrwxrwx")); Files.writeString(d.resolve("users"), "\"postgres\" \"twinbox\"\n");
    Files.writeString(d.resolve("ini"), "[databases]\n* = host=127.0.0.1 port=" + pg + " password=twinbox user=postgres\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=" + port + "\nauth_type=plain\nauth_file=" + d + "/users\nunix_socket_dir=\npool_mode=" + mode + "\ndefault_pool_size=3\nmax_client_conn=200\nignore_startup_parameters=extra_float_digits\n" + more);
    for (Path f : List.of(d.resolve("users"), d.resolve("ini"))) Files.setPosixFilePermissions(f, java.nio.file.attribute.PosixFilePermissions.fromString("rw-r--r--"));
    ProcessBuilder b = new ProcessBuilder("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "LD_LIBRARY_PATH=/tmp/hunt-tools/root/usr/lib/x86_64-linux-gnu", "/tmp/hunt-tools/root/usr/sbin/pgbouncer", d + "/ini").redirectErrorStream(true).redirectOutput(new File("/tmp/hunt-tools/bouncer-" + mode + ".log")); Process p = b.start(); Thread.sleep(1500); return p; }
  @Test void p1_modes() throws Exception {
    for (String mode : List.of("transaction", "transaction0", "session", "statement")) { HuntLJta j = HuntLDatabaseIT.db(); String name = j.one("select current_database()"); int port = HuntLRedisIT.free(); Process p = bouncer(port, HuntLDatabaseIT.pg().port(), mode.replace("0", ""), "");
      try { HuntLJta q = new HuntLJta("jdbc:postgresql://127.0.0.1:" + port + "/" + name + (mode.endsWith("0") ? "?prepareThreshold=0" : ""), "postgres", "twinbox"); App b = new App(q, null, null); say(mode + ": problems at deployment " + thrown(b::problems));
        Map<String, AtomicInteger> said = new ConcurrentHashMap<>(); AtomicIntegerArray in = new AtomicIntegerArray(4); AtomicInteger overlaps = new AtomicInteger(); List<Thread> ts = new ArrayList<>();
        for (int i = 0; i < 8; i++) { int seed = i; Thread t = new Thread(() -> { Random r = new Random(seed); for (int x = 0; x < 60; x++) { int k = r.nextInt(4); try { Optional<KeyLock> g = b.tryLock("k" + k, Duration.ofMillis(1 + r.nextInt(20))); String s = g.isPresent() ? "granted" : "none"; if (g.isPresent()) { if (r.nextBoolean()) Thread.sleep(10);
            try { q.tx(() -> { g.get().fence(); if (in.incrementAndGet(k) != 1) overlaps.incrementAndGet(); try { q.exec("insert into effect(what) values ('x')"); if (r.nextInt(3) == 0) Thread.sleep(5); } finally { in.decrementAndGet(k); } }); s += ", fenced"; } catch (Exception e) { s += ", fence " + kind(e); }
            try { g.get().extend(MIN); } catch (Exception e) { s += ", extend " + kind(e); } g.get().close(); } said.computeIfAbsent(s, y -> new AtomicInteger()).incrementAndGet(); } catch (Exception e) { said.computeIfAbsent("tryLock " + kind(e), y -> new AtomicInteger()).incrementAndGet(); } } }); t.start(); ts.add(t); } for (Thread t : ts) t.join();
        said.forEach((k, v) -> say(mode + ": " + v + " x " + k)); say(mode + ": OVERLAPS " + overlaps + ", effects " + j.one("select count(*) from effect") + "; settings left in a session: lock_timeout " + thrown(() -> q.one("show lock_timeout")) + ", synchronous_commit " + thrown(() -> q.one("show synchronous_commit"))); 
      } finally { p.destroy(); p.waitFor(); } }
  }
  static String kind(Exception e) { return e.getClass().getSimpleName() + " " + String.valueOf(e.getMessage()).replaceAll("S_\\d+", "S_#").replaceAll("\\d{2,}", "#").replaceAll("token \\d+", "token #").replaceAll("\"k\\d\"", "k#").replace('\n', ' '); }
}
