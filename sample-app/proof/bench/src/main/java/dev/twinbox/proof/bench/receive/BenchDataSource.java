package dev.twinbox.proof.bench.receive;

import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.ejb.Singleton;

/**
 * The only data source, for both consumers. The placeholders are specific to Payara. The URL has {@code
 * reWriteBatchedInserts=true}.
 */
@Singleton
@DataSourceDefinition(
        name = "java:app/jdbc/bench",
        className = "org.postgresql.ds.PGSimpleDataSource",
        url = "${MPCONFIG=bench.database.url}",
        user = "${MPCONFIG=bench.database.user}",
        password = "${MPCONFIG=bench.database.password}",
        maxPoolSize = 8)
public class BenchDataSource {}
