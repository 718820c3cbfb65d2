package dev.twinbox.huntl.app;
import dev.twinbox.*;
import jakarta.annotation.Resource;
import jakarta.enterprise.concurrent.*;
import jakarta.inject.Inject;
import jakarta.transaction.*;
import jakarta.ws.rs.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
@Path("hunt")
public class HuntResource {
  @Inject KeyLocks locks;
  @Inject HuntWork work;
  @Resource ManagedExecutorService managed;
  @Resource ManagedThreadFactory factory;
  @Resource UserTransaction ut;
  static final Map<String, KeyLock> KEPT = new ConcurrentHashMap<>();

  @GET @Path("up") public String up() { return "up"; }

  /** An old holder fences in some context; before its transaction ends, the key is asked for. */
  @GET @Path("context/{how}")
  public String context(@PathParam("how") String how) throws Exception {
    String key = "context " + how + ' ' + System.nanoTime();
    KeyLock old = locks.tryLock(key, Duration.ofMillis(1)).orElseThrow();
    Thread.sleep(50);
    CountDownLatch fenced = new CountDownLatch(1), goOn = new CountDownLatch(1), ended = new CountDownLatch(1);
    StringBuffer said = new StringBuffer();
    Runnable body = () -> {
      try {
        old.fence();
        said.append("fence passed; ");
        fenced.countDown();
        goOn.await(20, TimeUnit.SECONDS);
        said.append("stale write: ").append(work.write("old " + key)).append("; ");
      } catch (Throwable e) { said.append("OLD REFUSED/FAILED ").append(e).append("; "); }
      finally { fenced.countDown(); }
    };
    Future<?> check = managed.submit(() -> {
      try {
        if (!fenced.await(30, TimeUnit.SECONDS)) said.append("never began; ");
        Optional<KeyLock> next = locks.tryLock(key, Duration.ofMinutes(1));
        said.append("grant while old is fenced: ").append(next.isPresent()).append("; ");
        if (next.isPresent()) work.inTransaction(() -> { next.get().fence(); said.append("new write: ").append(work.write("new " + key)).append("; "); });
      } catch (Throwable e) { said.append("check ").append(e); } finally { goOn.countDown(); }
    });
    run(how, body, said, ended);
    ended.await(60, TimeUnit.SECONDS); check.get(60, TimeUnit.SECONDS);
    return said + "\n";
  }

  @GET @Path("advisory/{how}")
  public String advisory(@PathParam("how") String how) throws Exception {
    String key = "advisory " + how + ' ' + System.nanoTime();
    CountDownLatch locked = new CountDownLatch(1), goOn = new CountDownLatch(1), ended = new CountDownLatch(1);
    StringBuffer said = new StringBuffer();
    Future<?> check = managed.submit(() -> { try { locked.await(30, TimeUnit.SECONDS); work.inTransaction(() -> said.append("; second at the same time: ").append(locks.tryLockInTransaction(key))); } catch (Throwable e) { said.append(e); } finally { goOn.countDown(); } });
    run(how, () -> { try { said.append("first: ").append(locks.tryLockInTransaction(key)); locked.countDown(); goOn.await(20, TimeUnit.SECONDS); }
      catch (Throwable e) { said.append(e); } finally { locked.countDown(); } }, said, ended);
    ended.await(60, TimeUnit.SECONDS); check.get(60, TimeUnit.SECONDS);
    return said + "\n";
  }

  private void run(String how, Runnable body, StringBuffer said, CountDownLatch ended) throws Exception {
    Runnable job = () -> {
      try {
        switch (how.replace("http-", "")) {
          case "afterNew" -> work.afterNew(body);
          case "afterNewThatRollsBack" -> work.afterNewThatRollsBack(body);
          case "afterOutside" -> work.afterOutside(body);
          case "afterLock" -> work.afterLock(body);
          case "afterWrite" -> work.afterWrite(body);
          case "tm" -> { TransactionManager tm = javax.naming.InitialContext.doLookup("java:appserver/TransactionManager"); tm.begin(); try { body.run(); } finally { tm.commit(); } }
          case "ut" -> { ut.begin(); body.run(); ut.commit(); }
          case "observer" -> work.beforeCompletion(body);
          case "ut-managed", "ut-raw" -> { ut.begin(); body.run(); ut.commit(); }
          default -> work.inTransaction(body);
        }
      } catch (Throwable e) { said.append("ended by ").append(e).append("; "); } finally { ended.countDown(); }
    };
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    if (how.startsWith("http-")) { job.run(); return; }
    switch (how) {
      case "afterNew", "afterOutside", "managed", "ut-managed", "observer" -> managed.execute(job);
      case "factory" -> factory.newThread(job).start();
      case "raw", "ut-raw" -> { Thread t = new Thread(job); t.setContextClassLoader(loader); t.start(); }
      case "common" -> ForkJoinPool.commonPool().execute(job);
      case "completable" -> CompletableFuture.runAsync(job);
      case "async-observer" -> work.async(() -> { try { body.run(); } finally { ended.countDown(); } });
      default -> throw new IllegalArgumentException(how);
    }
  }

  /** fence in a BEFORE_COMPLETION observer of the request's own transaction. */
  @GET @Path("take/{key}/{millis}") public String take(@PathParam("key") String key, @PathParam("millis") long millis) {
    Optional<KeyLock> l = locks.tryLock(key, Duration.ofMillis(millis));
    l.ifPresent(x -> KEPT.put(key, x));
    return l + "\n";
  }
  @GET @Path("close/{key}") public String close(@PathParam("key") String key) { KEPT.get(key).close(); return "closed\n"; }

  /** N transactions, each holds a connection and asks for a lock. */
  @GET @Path("exhaust/{n}") public String exhaust(@PathParam("n") int n) throws Exception {
    CyclicBarrier all = new CyclicBarrier(n); StringBuffer said = new StringBuffer(); CountDownLatch end = new CountDownLatch(n);
    long t0 = System.nanoTime();
    for (int i = 0; i < n; i++) { int me = i; managed.execute(() -> { try { work.inTransaction(() -> {
        work.write("x" + me); try { all.await(20, TimeUnit.SECONDS); } catch (Exception e) { throw new RuntimeException(e); }
        long t = System.nanoTime();
        try { said.append("\n " + me + " " + locks.tryLock("exhaust " + me + System.nanoTime(), Duration.ofSeconds(5)).isPresent()); }
        catch (RuntimeException e) { said.append("\n " + me + " " + e); }
        said.append(" after " + (System.nanoTime() - t) / 1_000_000 + " ms");
      }); } catch (Throwable e) { said.append("\n ended by " + e); } finally { end.countDown(); } }); }
    end.await(200, TimeUnit.SECONDS);
    return said + "\n in all " + (System.nanoTime() - t0) / 1_000_000 + " ms\n";
  }

  @GET @Path("aftersuccess") public String afterSuccess() {
    StringBuffer said = new StringBuffer(); String key = "as " + System.nanoTime(); KeyLock l = locks.tryLock(key, Duration.ofMinutes(5)).orElseThrow();
    work.afterSuccess(l::fence, () -> { long t = System.nanoTime(); try { said.append("tryLock in AFTER_SUCCESS: " + locks.tryLock(key + "b", Duration.ofMinutes(1)).isPresent()); } catch (Throwable e) { said.append("tryLock: " + e); }
      said.append(" after " + (System.nanoTime() - t) / 1_000_000 + " ms; "); t = System.nanoTime(); l.close(); said.append("close after " + (System.nanoTime() - t) / 1_000_000 + " ms; "); });
    try { Thread.sleep(1000); } catch (InterruptedException e) { }
    said.append("key is free a second later: " + locks.tryLock(key, Duration.ofMinutes(1)).isPresent());
    return said + "\n";
  }
  /** Long jobs of the application on the default managed executor. */
  @GET @Path("starve/{n}") public String starve(@PathParam("n") int n) throws Exception {
    CountDownLatch stop = new CountDownLatch(1); java.util.concurrent.atomic.AtomicInteger started = new java.util.concurrent.atomic.AtomicInteger();
    for (int i = 0; i < n; i++) managed.execute(() -> { started.incrementAndGet(); try { stop.await(40, TimeUnit.SECONDS); } catch (InterruptedException e) { } });
    Thread.sleep(2000);
    String key = "starve " + System.nanoTime(); KeyLock l = locks.tryLock(key, Duration.ofMinutes(30)).orElseThrow();
    work.inTransaction(() -> { l.fence(); l.close(); });
    long t = System.nanoTime(); boolean free = false;
    while (!free && System.nanoTime() - t < 12_000_000_000L) { free = locks.tryLock(key, Duration.ofMinutes(30)).isPresent(); if (!free) Thread.sleep(100); }
    stop.countDown();
    return "long jobs " + n + ", running " + started + "; key free after close: " + free + " after " + (System.nanoTime() - t) / 1_000_000 + " ms\n";
  }
  /** fence within a transaction that has timed out meanwhile. */
  @GET @Path("timeout") public String timeout() throws Exception {
    String key = "timeout " + System.nanoTime(); KeyLock old = locks.tryLock(key, Duration.ofMillis(1)).orElseThrow(); Thread.sleep(20);
    StringBuffer said = new StringBuffer(); ut.setTransactionTimeout(2);
    try { ut.begin(); old.fence(); said.append("fenced; "); Thread.sleep(6000); said.append("status " + ut.getStatus() + "; grant after the timeout " + locks.tryLock(key, Duration.ofMinutes(1)).isPresent() + "; "); said.append("stale write " + work.write("after timeout") + "; "); ut.commit(); said.append("committed"); }
    catch (Throwable e) { said.append(e); try { ut.rollback(); } catch (Exception x) { said.append(" / " + x); } } finally { ut.setTransactionTimeout(0); }
    return said + "\n";
  }
}
