package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.schema.OutboxSchema;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.jboss.shrinkwrap.api.asset.StringAsset;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Deployments with wrong code, wrong configuration, missing tables, or a database that is away. Several WARs run in one
 * server and are tested from outside.
 */
class DeploymentIT {

    private static final OutboxSchema BY_SEARCH_PATH = new OutboxSchema(null, "Out\"Box");
    private static final String LOCAL_UNIT = """
            <persistence xmlns="https://jakarta.ee/xml/ns/persistence" version="3.0">
              <persistence-unit name="local" transaction-type="RESOURCE_LOCAL">
                <non-jta-data-source>java:app/jdbc/orders</non-jta-data-source>
              </persistence-unit>
            </persistence>
            """;
    /** HTTP/1.1, because the server now and then ends an HTTP/2 connection while an answer is on its way. */
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static TcpProxy proxy;
    private static TestServer server;

    @BeforeAll
    static void deploy() throws Exception {
        TestDatabase.server().createDatabase("bare");
        TestDatabase.execute(
                "bare", "create role bare login password 'twinbox'; create table outbox_event (id text, topic text)");
        TestDatabase.server().createDatabase("paths");
        TestDatabase.execute(
                "paths",
                "create schema \"Sales-EU 1\"; create role paths login password 'twinbox'; revoke all on schema public from public");
        TestDatabase.migrate("paths", BY_SEARCH_PATH, "?currentSchema=%22Sales-EU%201%22");
        TestDatabase.execute("paths", """
                grant usage on schema "Sales-EU 1" to paths;
                grant insert on "Sales-EU 1"."Out""Box" to paths;
                grant usage on sequence "Sales-EU 1"."Out""Box_seq" to paths;
                """);
        TestDatabase.server().createDatabase("away");
        TestDatabase.migrate("away", TestDatabase.DEFAULT_NAMES, "");
        proxy = TcpProxy.to("127.0.0.1", TestDatabase.server().port());
        proxy.cut();

        server = TestServer.shared();
        server.deploy(applications());
    }

    private static List<WebArchive> applications() {
        return List.of(
                TestWar.named("wrong-code", correct())
                        .addClasses(WrongBeans.class, AccountChanged.class, AccessorEvent.class, StateServlet.class)
                        .addClasses(WrongBeans.class.getDeclaredClasses())
                        .addAsResource(new StringAsset(LOCAL_UNIT), "META-INF/persistence.xml")
                        .setWebXML(dataSource("main", "postgres", "")),
                publishing("wrong-configuration", """
                        twinbox.outbox.source=not a uri
                        twinbox.outbox.table=%s
                        twinbox.outbox.max-payload-bytes=many
                        twinbox.outbox.max-events-per-transaction=0
                        twinbox.outbox.max-payload-byte=1
                        """.formatted("x".repeat(60)), dataSource("main", "postgres", "")),
                publishing(
                        "no-data-source",
                        correct().replace("java:app/jdbc/orders", "java:app/jdbc/misspelt"),
                        dataSource("main", "postgres", "")),
                publishing("outside-of-jta", correct(), outsideOfJta()),
                publishing("no-tables", correct(), dataSource("bare", "bare", "")),
                publishing(
                        "search-path",
                        correct() + "twinbox.outbox.table=Out\"Box\n",
                        dataSource("paths", "paths", "?currentSchema=%22Sales-EU%201%22")),
                TestWar.named("own-serializer", correct())
                        .addClasses(OwnFormat.class, AccessorEvent.class, PlainTextSerializer.class, StateServlet.class)
                        .setWebXML(dataSource("away", "postgres", "")),
                publishing("without-scope", correct(), dataSource("away", "postgres", ""))
                        .addClass(WithoutScope.class),
                publishing("database-away", correct(), awayDataSource()),
                TestWar.named("not-publishing", "").addClass(StateServlet.class));
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        if (proxy != null) {
            proxy.close();
        }
    }

    @Test
    void wrongAnnotationsAreRefusedAllAtOnceWithClassMethodAndRule() throws Exception {
        assertThat(status("/wrong-code/state")).isEqualTo(404);
        String bean = WrongBeans.class.getName();
        assertThat(server.log())
                .contains(
                        bean + "$Shapes.nothing: returns void",
                        bean + "$Shapes.number: returns int",
                        bean + "$Shapes.text: returns java.lang.String",
                        bean + "$Shapes.array: returns",
                        bean + "$Shapes.map: returns",
                        bean + "$Shapes.later: returns",
                        bean + "$Shapes.nameless: no topic: neither @Outbox nor @EventType on " + bean
                                + "$Nameless names one",
                        bean + "$Shapes.nameless: no type: neither",
                        bean + "$Shapes.typeless: no type: neither",
                        bean + "$Shapes.wrongKey: key property \"missing\" does not exist in " + bean + "$WrongKey",
                        bean + "$Shapes.listKey: key property \"ids\" of " + bean + "$ListKey is a java.util.List",
                        bean + "$Shapes.wrongKeyOfMethod: key property \"nowhere\" does not exist",
                        bean + "$Shapes.wrongTopic: topic of @EventType",
                        bean + "$Shapes.wrongTopicOfMethod: topic of @Outbox: topic \"..\" is not allowed by Kafka",
                        bean + "$Shapes.aStatic: is private, static or final",
                        bean + "$Shapes.aPrivate: is private, static or final",
                        bean + "$Shapes.callback: is a lifecycle callback",
                        bean + "$Attributes.notSupported: has the transaction attribute NOT_SUPPORTED",
                        bean + "$Attributes.never: has the transaction attribute NEVER",
                        bean + "$SessionBean.notSupported: has the transaction attribute NOT_SUPPORTED",
                        bean + "$SessionBean.never: has the transaction attribute NEVER",
                        bean + "$SessionBean.notPublic: is not public",
                        bean + "$BeanManaged.own: belongs to a bean with bean-managed transactions",
                        bean + "$WholeClass.bad: returns long",
                        bean + "$Implementation.unseen: @Outbox on the interface " + bean
                                + "$OnInterface is not seen by CDI")
                .doesNotContain(bean + "$WholeClass.good");
    }

    /** An event class with accessors instead of getters was deployed, and its payload was <code>{}</code>. */
    @Test
    void fault25AnEventClassWithoutJsonBPropertiesIsRefused() {
        String place = WrongBeans.class.getName() + "$Shapes.accessors: ";
        String event = AccessorEvent.class.getName();
        assertThat(server.log())
                .contains(
                        place + "field orderId of " + event + " has no JSON-B property",
                        place + "key property \"orderId\" of " + event + " has no JSON-B property");
    }

    /** A binding on what is overridden is not inherited, so the method published nothing. */
    @Test
    void fault29AnOverriddenMethodIsJudgedByTheOneThatOverridesIt() {
        String child = WrongBeans.class.getName() + "$Child.";
        assertThat(server.log())
                .contains(child + "overridden: @Outbox on the superclass " + WrongBeans.class.getName()
                        + "$Parent is not seen by CDI")
                .doesNotContain(child + "again", child + "inherited");
    }

    /** In a class without a scope nobody intercepts the calls, so nothing was published. */
    @Test
    void fault30AClassWithoutAScopeIsRefused() throws Exception {
        assertThat(status("/without-scope/state")).isEqualTo(404);
        assertThat(server.log())
                .contains(WithoutScope.class.getName() + ": has @Outbox and is neither a CDI bean nor a session bean");
    }

    @Test
    void fault25AnApplicationWithItsOwnSerializerIsNotHeldToJsonB() throws Exception {
        assertThat(status("/own-serializer/state")).isEqualTo(200);
    }

    @Test
    void scenario9FLUSHCOMMITAPersistenceUnitOutsideOfJtaIsRefused() {
        assertThat(server.log())
                .contains(
                        "persistence unit \"local\" uses the outbox's data source java:app/jdbc/orders outside of JTA");
    }

    @Test
    void scenario4NOTXAMethodThatMayRunWithoutATransactionIsAWarning() {
        assertThat(server.log())
                .contains(
                        "@Outbox method " + WrongBeans.class.getName()
                                + "$Attributes.warned: has no @Transactional: it publishes only if its caller has a transaction");
    }

    @Test
    void wrongConfigurationIsRefusedAllAtOnceWithKeyValueAndBound() throws Exception {
        assertThat(status("/wrong-configuration/state")).isEqualTo(404);
        assertThat(server.log())
                .contains(
                        "twinbox.outbox.data-source is missing",
                        "TWINBOX_OUTBOX_DATA_SOURCE in the environment",
                        "twinbox.outbox.source = \"not a uri\" must be a URI-reference",
                        "twinbox.outbox.table = \"" + "x".repeat(60)
                                + "\" must be an identifier: the longest name derived from the table, \""
                                + "x".repeat(60) + "_history\" has 68 bytes",
                        "twinbox.outbox.max-payload-bytes = \"many\" must be a whole number from 1 to 100000000",
                        "twinbox.outbox.max-events-per-transaction = \"0\" must be a whole number from 1 to 1000000",
                        "twinbox.outbox.max-payload-byte is unknown: did you mean twinbox.outbox.max-payload-bytes?");
    }

    @Test
    void aDataSourceThatDoesNotExistFailsTheDeploymentAndIsNamed() throws Exception {
        assertThat(status("/no-data-source/state")).isEqualTo(404);
        assertThat(server.log()).contains("twinbox.outbox.data-source = java:app/jdbc/misspelt names nothing in JNDI");
    }

    /** Its rows would have survived a rollback. */
    @Test
    void aDataSourceOutsideOfJtaFailsTheDeployment() throws Exception {
        assertThat(status("/outside-of-jta/state")).isEqualTo(404);
        assertThat(server.log())
                .contains(
                        "twinbox.outbox.data-source is \"java:app/jdbc/orders\", but two connections of one JTA transaction are not in one transaction of the database");
    }

    /** On Payara a plain connection before the commit spoils the pool, so the self-test must not open one. */
    @Test
    void theWayToWriteIsChosenByASelfTest() throws Exception {
        assertThat(status("/search-path/state")).isEqualTo(200);
        assertThat(server.log())
                .contains(
                        "it writes through an EJB, because an EJB that is called before the commit is in the transaction")
                .doesNotContain("it writes directly", "state.isBusy already set to false");
    }

    @Test
    void missingColumnsAndPrivilegesFailTheDeploymentWithTheRemedy() throws Exception {
        assertThat(status("/no-tables/state")).isEqualTo(404);
        assertThat(server.log())
                .contains(
                        "column id of table \"outbox_event\" is text instead of uuid",
                        "table \"outbox_event\" has no column payload",
                        "role \"bare\" lacks INSERT on table \"outbox_event\"",
                        "sequence \"outbox_event_seq\" does not exist in the connection's search_path",
                        "java -jar twinbox-relay.jar migrate");
    }

    @Test
    void scenario34SCHEMAUnqualifiedNamesFollowTheSearchPath() throws Exception {
        HttpResponse<String> response = get("/search-path/publish?account=34");

        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(count("paths", "select from \"Sales-EU 1\".\"Out\"\"Box\" where key = '34'"))
                .isEqualTo(1);
        assertThat(count("paths", "select from pg_tables where schemaname = 'public'"))
                .isZero();
    }

    @Test
    void anApplicationThatDoesNotPublishNeedsNoConfiguration() throws Exception {
        assertThat(status("/not-publishing/state")).isEqualTo(200);
    }

    @Test
    void anApplicationStartsWithoutItsDatabaseAndPublishesWhenItIsBack() throws Exception {
        assertThat(status("/database-away/state")).isEqualTo(200);
        assertThat(server.log()).contains("The outbox's database cannot be reached (data source java:app/jdbc/orders)");
        HttpResponse<String> refused = get("/database-away/publish?account=1");
        assertThat(refused.statusCode()).isEqualTo(500);
        assertThat(refused.body()).contains("The outbox is not open, so nothing can be published");
        assertThat(get("/health/ready").body()).contains("twinbox-outbox", "The outbox's database cannot be reached");

        proxy.heal();

        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> status("/database-away/publish?account=2") == 200);
        assertThat(count("away", "select from outbox_event where key = '1'")).isZero();
        assertThat(count("away", "select from outbox_event where key = '2'")).isEqualTo(1);
        assertThat(get("/health/ready").body())
                .contains("\"writes\":\"through an EJB\"")
                .doesNotContain("DOWN");
    }

    private static WebArchive publishing(String name, String configuration, StringAsset webXml) {
        return TestWar.named(name, configuration)
                .addClasses(AccountChanged.class, Publishing.class, PublishServlet.class, StateServlet.class)
                .setWebXML(webXml);
    }

    private static String correct() {
        return "twinbox.outbox.data-source=java:app/jdbc/orders\ntwinbox.outbox.source=/tests/deployment\n";
    }

    private static StringAsset dataSource(String database, String user, String parameters) {
        return dataSource(TestDatabase.server().jdbcUrl(database) + parameters, user);
    }

    private static StringAsset awayDataSource() {
        return dataSource(TestDatabase.server().jdbcUrl("away", proxy), "postgres");
    }

    private static StringAsset outsideOfJta() {
        return webXml(
                TestDatabase.server().jdbcUrl("main"),
                "postgres",
                "org.postgresql.ds.PGSimpleDataSource",
                "<transactional>false</transactional>");
    }

    private static StringAsset dataSource(String url, String user) {
        return webXml(url, user, "org.postgresql.xa.PGXADataSource", "");
    }

    private static StringAsset webXml(String url, String user, String className, String further) {
        return new StringAsset("""
                <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
                  <data-source>
                    <name>java:app/jdbc/orders</name>
                    <class-name>%s</class-name>
                    <url>%s</url>
                    <user>%s</user>
                    <password>twinbox</password>
                    %s
                  </data-source>
                </web-app>
                """.formatted(className, url, user, further));
    }

    private static int status(String path) throws Exception {
        return get(path).statusCode();
    }

    private static HttpResponse<String> get(String path) throws Exception {
        URI uri = server.payara().uri(path);
        return HTTP.send(
                HttpRequest.newBuilder(uri).timeout(Duration.ofMinutes(1)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static int count(String database, String sql) throws Exception {
        try (Connection connection = TestDatabase.server().connect(database);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }
}
