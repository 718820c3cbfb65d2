package dev.twinbox.proof.crash;

import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.ejb.Singleton;

/** The only data source, for inbox and effects. The placeholders are specific to Payara. */
@Singleton
@DataSourceDefinition(
        name = "java:app/jdbc/crash",
        className = "org.postgresql.ds.PGSimpleDataSource",
        url = "${MPCONFIG=crash.database.url}",
        user = "${MPCONFIG=crash.database.user}",
        password = "${MPCONFIG=crash.database.password}",
        maxPoolSize = 8)
public class CrashDataSource {}
