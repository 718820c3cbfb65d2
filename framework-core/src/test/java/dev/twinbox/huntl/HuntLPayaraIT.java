package dev.twinbox.huntl;
import dev.twinbox.fixtures.*;
import java.net.URI;
import java.net.http.*;
import java.nio.file.*;
import java.sql.*;
import java.time.Duration;
import org.junit.jupiter.api.Test;
public class HuntLPayaraIT {
  static final String SQL = """
    create sequence outbox_lock_token as bigint;
    create table outbox_lock (key text collate "C" primary key check (octet_length(key) between 1 and 1000),
      token bigint not null check (token > 0), lease_until timestamptz not null) with (fillfactor = 70);
    create table effect(id bigserial primary key, what text, at timestamptz default clock_timestamp());
    """;
  @Test public void contexts() throws Exception {
    PostgresServer pg = PostgresServer.create().start();
    String url = pg.createDatabase("hunt");
    try (Connection c = pg.connect("hunt"); Statement s = c.createStatement()) { s.execute(SQL); }
    PayaraMicro p = PayaraMicro.builder(Path.of("/tmp/fin/framework-core/target/server/payara-micro-6.2025.10.jar"))
      .war(Path.of("/tmp/hunt-tools/hunt.war"), "hunt").redeployable().jvmOptions("-XX:TieredStopAtLevel=1")
      .systemProperty("hunt.url", url).systemProperty("hunt.user", pg.user()).systemProperty("hunt.password", pg.password())
      .systemProperty("twinbox.locks.data-source", "java:app/jdbc/hunt").build().start();
    try {
      p.awaitHttp("/hunt/api/hunt/up");
      for (String how : System.getProperty("hunt.hows", "http-plain,http-ut,http-tm,http-observer,http-afterNew,http-afterNewThatRollsBack,http-afterOutside,http-afterLock,http-afterWrite,afterNew,afterOutside,managed,ut-managed,factory,raw,ut-raw,common,completable,async-observer,observer").split(",")) {
        System.out.println("== context " + how + ": " + get(p, "/hunt/api/hunt/context/" + how));
        System.out.println("== advisory " + how + ": " + get(p, "/hunt/api/hunt/advisory/" + how));
      }
      try (Connection c = pg.connect("hunt"); Statement s = c.createStatement(); ResultSet r = s.executeQuery("select what from effect order by id")) { while (r.next()) System.out.println("effect: " + r.getString(1)); }
      for (String path : new String[] {"aftersuccess", "timeout", "starve/3", "starve/60"}) System.out.println("== " + path + ": " + get(p, "/hunt/api/hunt/" + path));
      System.out.println("== exhaust 4 of 4: " + get(p, "/hunt/api/hunt/exhaust/4"));
      System.out.println(get(p, "/hunt/api/hunt/take/undeployed/60000"));
      p.redeploy(); p.awaitHttp("/hunt/api/hunt/up");
      System.out.println("after redeploy: " + get(p, "/hunt/api/hunt/take/undeployed/60000"));
    } finally { System.out.println(p.log().lines().filter(l -> l.contains("wins") || l.contains("WARN") || l.contains("SEVERE") || l.contains("win")|| l.contains("ock")).limit(60).collect(java.util.stream.Collectors.joining("\n"))); p.close(); pg.close(); }
  }
  static String get(PayaraMicro p, String path) throws Exception {
    return HttpClient.newHttpClient().send(HttpRequest.newBuilder(p.uri(path)).timeout(Duration.ofMinutes(4)).build(), HttpResponse.BodyHandlers.ofString()).body();
  }
}
