package dev.twinbox.sample.shipping;

import jakarta.annotation.sql.DataSourceDefinition;
import jakarta.ejb.Singleton;

/**
 * The only data source of this application. Hibernate and the inbox write through it, in one transaction.
 *
 * <p>It is not an XA data source, because a transaction here has one database. The placeholders and the check of the
 * pool are specific to Payara.
 */
@Singleton
@DataSourceDefinition(
        name = "java:app/jdbc/shipping",
        className = "org.postgresql.ds.PGSimpleDataSource",
        url = "${MPCONFIG=shipping.database.url}",
        user = "${MPCONFIG=shipping.database.user}",
        password = "${MPCONFIG=shipping.database.password}",
        initialPoolSize = 2,
        minPoolSize = 2,
        maxPoolSize = 16,
        properties = {
            "fish.payara.is-connection-validation-required=true",
            "fish.payara.connection-validation-method=custom-validation",
            "fish.payara.validation-classname=org.glassfish.api.jdbc.validation.PostgresConnectionValidation",
            "fish.payara.fail-all-connections=true"
        })
public class ShippingDataSource {}
