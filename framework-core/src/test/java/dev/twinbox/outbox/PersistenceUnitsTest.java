package dev.twinbox.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class PersistenceUnitsTest {

    @Test
    void scenario9FLUSHCOMMITAUnitOutsideOfJtaIsRefused() throws Exception {
        String descriptor = """
                <persistence xmlns="https://jakarta.ee/xml/ns/persistence" version="3.0">
                  <persistence-unit name="local" transaction-type="RESOURCE_LOCAL">
                    <jta-data-source>java:app/jdbc/orders</jta-data-source>
                  </persistence-unit>
                  <persistence-unit name="non-jta">
                    <non-jta-data-source> java:app/jdbc/orders </non-jta-data-source>
                  </persistence-unit>
                  <persistence-unit name="right" transaction-type="JTA">
                    <provider>x</provider>
                    <jta-data-source>java:app/jdbc/orders</jta-data-source>
                    <non-jta-data-source>java:app/jdbc/orders</non-jta-data-source>
                  </persistence-unit>
                  <persistence-unit name="elsewhere" transaction-type="RESOURCE_LOCAL">
                    <non-jta-data-source>java:app/jdbc/reports</non-jta-data-source>
                  </persistence-unit>
                  <persistence-unit name="default"/>
                </persistence>
                """;

        assertThat(PersistenceUnits.problems(
                        new ByteArrayInputStream(descriptor.getBytes(StandardCharsets.UTF_8)), "java:app/jdbc/orders"))
                .hasSize(2)
                .anyMatch(p -> p.startsWith("persistence unit \"local\" uses the outbox's data source"))
                .anyMatch(p -> p.startsWith("persistence unit \"non-jta\" uses the outbox's data source"));
    }
}
