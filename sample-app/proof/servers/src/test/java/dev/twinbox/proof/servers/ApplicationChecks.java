package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.ChildProcessException;
import dev.twinbox.proof.appserver.ApplicationDatabase;
import dev.twinbox.proof.appserver.Product;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** What must hold for other applications than the main one: other JPA providers and data sources, EARs. */
abstract class ApplicationChecks extends ReceivingChecks {

    /** Checks with an order come after all others. */
    static final int LAST = Integer.MAX_VALUE;

    private static final String EAR = "twinbox-ear";
    private static final String YASSON = "org.eclipse.yasson";
    private static final List<String> CALLERS = List.of("EJB", "USER_TRANSACTION", "TRANSACTIONAL");

    ApplicationChecks(Product product, String way) {
        super(product, way);
    }

    @Test
    @Order(LAST - 8)
    void anApplicationWithoutJpaPublishesAndReceives() throws Exception {
        publishesAndReceives(PLAIN, plain, name + "-plain", YASSON);
    }

    /** Liberty uses its own JSON-B all the same. */
    @Test
    @Order(LAST - 10)
    void anApplicationWithJohnzonInItsWarPublishesAndReceives() throws Exception {
        String root = "twinbox-johnzon";
        String group = name + "-johnzon";
        Path file = WarFile.buildWithJohnzon(file(root + ".war"), configuration(group, "twinbox.inbox.start=latest\n"));
        publishesAndReceives(root, file, group, product == Product.LIBERTY ? YASSON : "org.apache.johnzon");
    }

    /** Where Hibernate can take the place of the server's JPA provider: 7 on Jakarta EE 11, 6.6 on 10. */
    @Test
    @Order(LAST - 9)
    void anApplicationWithHibernateInItsWarPublishes() throws Exception {
        assumeTrue(product != Product.LIBERTY && product != Product.GLASSFISH, "not part of the test");
        String root = "twinbox-hibernate";
        Path file = WarFile.buildWithHibernate(
                file(root + ".war"),
                ApplicationDatabase.DATA_SOURCE,
                configuration(name + "-hibernate", "twinbox.inbox.start=latest\n"),
                product == Product.WILDFLY ? "JBossAS" : "SunOne",
                product == Product.PAYARA7 ? WarFile.hibernate7() : WarFile.hibernate6());
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/state");
            assertThat(getOf(root, "state").body())
                    .contains(product == Product.PAYARA7 ? "Hibernate 7." : "Hibernate 6.6.");
            commitsAndRollsBack(root, List.of("BEFORE_JPA", "AFTER_JPA", "IN_FLUSH"));
        } finally {
            server.undeploy(file);
        }
        assertConsistent();
    }

    /**
     * The main application's data source is local on WildFly and XA on the others. This one's is the other way round. In
     * both, a transaction may have a second data source, which is XA.
     */
    @Test
    @Order(LAST - 11)
    void localAndXaDataSourcesWorkAloneAndTogether() throws Exception {
        String root = "twinbox-alternative";
        String group = name + "-alternative";
        String dataSource = ApplicationDatabase.ALTERNATIVE_DATA_SOURCE;
        Path file = WarFile.build(
                file(root + ".war"), dataSource, configuration(dataSource, group, "twinbox.inbox.start=latest\n"));
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/state");
            List<String> both = List.of("TWO_DATA_SOURCES", "TWO_DATA_SOURCES_REVERSED");
            commitsAndRollsBack(root, List.of("AFTER_JPA", "IN_FLUSH", "PLAIN_JDBC"));
            long before = tables.count("elsewhere");
            commitsAndRollsBack(root, both);
            assertThat(tables.count("elsewhere") - before).isEqualTo(CALLERS.size() * both.size());

            awaitJoined(group, "ejb");
            List<String> ids = ids(20);
            orders.send("orders", ids);
            orders.send("orders", ids);
            await().atMost(LIMIT).until(() -> tables.effects(group, "ejb").containsAll(ids));
            assertThat(tables.effects(group, "ejb")).doesNotHaveDuplicates();
        } finally {
            server.undeploy(file);
        }
        assertThat(tables.count("pg_prepared_xacts")).isZero();
        assertConsistent();
    }

    private void commitsAndRollsBack(String root, List<String> moments) {
        for (String caller : CALLERS) {
            for (String when : moments) {
                String committed = ref();
                HttpResponse<String> answer = getOf(root, runQuery(caller, committed, 1, when, "COMMIT"));
                assertThat(answer.statusCode())
                        .as(caller + ", " + when + ": " + answer.body())
                        .isEqualTo(200);
                assertThat(isPublished(committed)).as(caller + ", " + when).isTrue();
                String undone = ref();
                getOf(root, runQuery(caller, undone, 1, when, "ROLLBACK"));
                assertThat(isPublished(undone)).as(caller + ", " + when).isFalse();
            }
        }
    }

    /** The WAR holds Twinbox and the handler. It uses a bean of an ejb-jar. */
    @Test
    @Order(LAST - 7)
    void anEarPublishesAndReceives() throws Exception {
        assumeTrue(server.hasEars(), "the server has no EARs");
        String group = name + "-ear";
        Path file = EarFile.build(file(EAR + ".ear"), configuration(group, "twinbox.inbox.start=latest\n"));
        publishesAndReceives(EAR, file, group, YASSON);
    }

    @Test
    @Order(LAST - 6)
    void anEarWithTwinboxInItsLibIsRefused() throws Exception {
        assumeTrue(server.hasEars(), "the server has no EARs");
        Path ear = EarFile.buildWithTwinboxInLib(file("twinbox-lib.ear"), configuration(name + "-lib", ""));
        int before = server.log().length();

        assertThatThrownBy(() -> server.deploy(ear)).isInstanceOf(ChildProcessException.class);

        assertThat(server.log().substring(before))
                .contains(
                        product == Product.GLASSFISH
                                ? "ejbs in the application with interface" // GlassFish finds each bean once in each
                                // module
                                : "put its jar into WEB-INF/lib");
    }

    private void publishesAndReceives(String root, Path file, String group, String jsonb) throws Exception {
        server.deploy(file);
        try {
            server.awaitHttp("/" + root + "/change");
            assertThat(getOf(root, "change").body()).startsWith(jsonb);
            String committed = ref();
            String undone = ref();
            assertThat(change(root, committed, true).statusCode()).isEqualTo(200);
            change(root, undone, false);
            awaitJoined(group, "plain");
            List<String> ids = ids(20);
            orders.send("orders", ids);
            orders.send("orders", ids);

            await().atMost(LIMIT).until(() -> tables.effects(group, "plain").containsAll(ids));
            assertThat(tables.effects(group, "plain")).doesNotHaveDuplicates();
            assertThat(isPublished(committed)).isTrue();
            assertThat(isPublished(undone)).isFalse();
        } finally {
            server.undeploy(file);
        }
        assertConsistent();
    }

    /** A group that starts at the end of the topic gets what is sent once it is there. */
    void awaitJoined(String group, String handler) {
        await().atMost(LIMIT).until(() -> {
            orders.send("orders", ids(1));
            return !tables.effects(group, handler).isEmpty();
        });
    }
}
