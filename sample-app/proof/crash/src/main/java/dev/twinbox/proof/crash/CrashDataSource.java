package dev.twinbox.proof.crash;

import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.ejb.Singleton;

/** The one data source of inbox and effects. The placeholders are Payara's. */
@Singleton
@DataSourceDefinition(
        name = "java:app/jdbc/crash",
        className = "org.postgresql.ds.PGSimpleDataSource",
        url = "${MPCONFIG=crash.database.url}",
        user = "${MPCONFIG=crash.database.user}",
        password = "${MPCONFIG=crash.database.password}",
        maxPoolSize = 8)
public class CrashDataSource {}
