package dev.twinbox.huntl.app;
import dev.twinbox.*;
import jakarta.annotation.Resource;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.*;
import jakarta.inject.Inject;
import jakarta.transaction.*;
import java.sql.*;
import java.util.function.*;
import javax.sql.DataSource;
/** As in the documentation: a CDI bean with @Transactional. */
@ApplicationScoped
public class HuntWork {
  @Resource(lookup = "java:app/jdbc/hunt") DataSource ds;
  @Inject KeyLocks locks;
  @Inject Event<Go> go;
  @Inject Event<AsyncGo> asyncGo;
  public record Go(Runnable what) {}
  public record AsyncGo(Runnable what) {}
  @Transactional public void inTransaction(Runnable what) { what.run(); }
  @Transactional public void beforeCompletion(Runnable what) { go.fire(new Go(what)); }
  @Transactional(Transactional.TxType.REQUIRES_NEW) public void inNew(Runnable what) { what.run(); }
  @Transactional(Transactional.TxType.NOT_SUPPORTED) public void outside(Runnable what) { what.run(); }
  @Transactional(Transactional.TxType.REQUIRED) public void joined(Runnable what) { what.run(); }
  @Transactional public void afterNew(Runnable what) { self.inNew(() -> write("inner")); what.run(); }
  @Transactional public void afterNewThatRollsBack(Runnable what) { try { self.inNew(() -> { throw new IllegalStateException("wanted"); }); } catch (IllegalStateException e) { } what.run(); }
  @Transactional public void afterOutside(Runnable what) { self.outside(() -> write("outside")); what.run(); }
  @Transactional public void afterLock(Runnable what) { locks.tryLock("other " + System.nanoTime(), java.time.Duration.ofMillis(50)); what.run(); }
  @Transactional public void afterWrite(Runnable what) { write("before"); self.joined(what); }
  public void async(Runnable what) { asyncGo.fireAsync(new AsyncGo(what)); }
  void late(@Observes(during = TransactionPhase.BEFORE_COMPLETION) Go g) { g.what().run(); }
  @Inject HuntWork self;
  public record After(Runnable what) {}
  @Inject Event<After> afterEvent;
  @Transactional public void afterSuccess(Runnable inTx, Runnable after) { write("after"); inTx.run(); afterEvent.fire(new After(after)); }
  void after(@Observes(during = TransactionPhase.AFTER_SUCCESS) After a) { a.what().run(); }
  void asyncObserver(@ObservesAsync AsyncGo g) { self.inTransaction(g.what()); }
  public String write(String text) {
    try (Connection c = ds.getConnection(); PreparedStatement s = c.prepareStatement("insert into effect(what) values (?) returning pg_current_xact_id()::text")) {
      s.setString(1, text); try (ResultSet r = s.executeQuery()) { r.next(); return "autocommit=" + c.getAutoCommit() + " xid=" + r.getString(1); }
    } catch (SQLException e) { throw new RuntimeException(e); }
  }
}
