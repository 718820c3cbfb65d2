package dev.twinbox.huntl.app;
import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.ejb.Singleton;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;
@ApplicationPath("api")
public class HuntApp extends Application {}
@Singleton
@DataSourceDefinition(name = "java:app/jdbc/hunt", className = "org.postgresql.ds.PGSimpleDataSource",
  url = "${MPCONFIG=hunt.url}", user = "${MPCONFIG=hunt.user}", password = "${MPCONFIG=hunt.password}", maxPoolSize = 4,
  properties = {"fish.payara.connection-leak-timeout-in-seconds=0"})
class HuntDs {}
