package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.KafkaCluster;
import dev.twinbox.fixtures.PayaraMicro;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.appserver.ApplicationDatabase;
import dev.twinbox.proof.appserver.Template;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One PostgreSQL server and Kafka with one or more brokers, and what is set up on them: outbox, inbox, relays,
 * applications.
 * They are configured through {@link #postgres()} and {@link #brokers()} before they start.
 */
public final class Servers implements AutoCloseable {

    /** The JVM compiles less: a server starts in fewer seconds and works a little slower afterwards. */
    static final String QUICK_START = "-XX:TieredStopAtLevel=1";

    private static final int REPLICAS = 3;

    private final Installation installation;
    private final PostgresServer postgres = PostgresServer.create();
    private final @Nullable KafkaCluster cluster;
    private final List<KafkaBroker> brokers;

    private Servers(Installation installation, @Nullable KafkaCluster cluster, List<KafkaBroker> brokers) {
        this.installation = installation;
        this.cluster = cluster;
        this.brokers = brokers;
    }

    /** Servers that are not started yet. */
    public static Servers of(Installation installation, int brokers) {
        if (brokers == 1) {
            return new Servers(installation, null, List.of(KafkaBroker.create()));
        }
        KafkaCluster cluster = KafkaCluster.of(brokers);
        return new Servers(installation, cluster, cluster.brokers());
    }

    /** The built files. */
    public Installation installation() {
        return installation;
    }

    /** The database server. */
    public PostgresServer postgres() {
        return postgres;
    }

    /** All brokers, in the order of their node ids. */
    public List<KafkaBroker> brokers() {
        return brokers;
    }

    /** The first broker. */
    public KafkaBroker kafka() {
        return brokers.get(0);
    }

    /** {@code bootstrap.servers} of clients that use no proxy. */
    public String bootstrapServers() {
        return directly().bootstrapServers();
    }

    /** Without proxies. */
    public Route directly() {
        return new Route(this, null, List.of());
    }

    /** Starts all servers; returns when they accept requests. */
    public Servers start() {
        postgres.start();
        if (cluster == null) {
            kafka().start();
        } else {
            cluster.start();
        }
        return this;
    }

    /** Creates a topic whose replicas and leaders are spread over the brokers. */
    public void createTopic(String name, int partitions) {
        if (cluster == null) {
            kafka().createTopic(name, partitions);
            return;
        }
        int size = brokers.size();
        cluster.createTopic(
                name,
                IntStream.range(0, partitions)
                        .mapToObj(partition -> IntStream.range(0, Math.min(REPLICAS, size))
                                .mapToObj(replica -> 1 + (partition + replica) % size)
                                .toList())
                        .toList());
    }

    /**
     * Creates a database with an outbox by the relay's {@code migrate} command.
     *
     * @param more keys of the relay's configuration beside those that name the servers
     */
    public void createOutbox(String database, Map<String, String> more) {
        createDatabase(database);
        migrateOutbox(database, more);
    }

    /** As {@link #createOutbox}, in a database that exists. */
    public void migrateOutbox(String database, Map<String, String> more) {
        migrateOutbox(installation.file(BuiltFile.RELAY), database, more);
    }

    /**
     * As {@link #migrateOutbox(String, Map)}, by a relay that need not be the built one.
     *
     * @param relay its executable jar
     */
    public void migrateOutbox(Path relay, String database, Map<String, String> more) {
        Map<String, String> configuration = new HashMap<>(relayConfiguration(directly(), database));
        configuration.putAll(more);
        Map<String, String> environment = configuration.entrySet().stream()
                .collect(Collectors.toMap(entry -> environmentName(entry.getKey()), Map.Entry::getValue));
        Command.run(relay, environment, "migrate");
    }

    /** Creates a database with an inbox by the {@code migrate} command of the inbox. */
    public void createInbox(String database) {
        createDatabase(database);
        migrateInbox(database);
    }

    /** As {@link #createInbox}, in a database that exists. */
    public void migrateInbox(String database) {
        Command.run(
                installation.file(BuiltFile.INBOX_CLI),
                Map.of("TWINBOX_INBOX_DATABASE_PASSWORD", postgres.password()),
                "migrate",
                "--url",
                postgres.jdbcUrl(database),
                "--user",
                postgres.user());
    }

    private void createDatabase(String name) {
        try {
            postgres.createDatabase(name);
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot create the database " + name, e);
        }
    }

    /** A relay that is to be built: for the outbox of a database, with the default configuration. */
    public RelayProcess.Builder relay(Route route, String database) {
        return relay(installation.file(BuiltFile.RELAY), route, database);
    }

    /**
     * As {@link #relay(Route, String)}, for a relay that need not be the built one.
     *
     * @param relay its executable jar
     */
    public RelayProcess.Builder relay(Path relay, Route route, String database) {
        return RelayProcess.builder(relay).config(relayConfiguration(route, database));
    }

    private Map<String, String> relayConfiguration(Route route, String database) {
        return Map.of(
                "twinbox.relay.database.url", route.jdbcUrl(database),
                "twinbox.relay.database.user", postgres.user(),
                "twinbox.relay.database.password", postgres.password(),
                "twinbox.relay.kafka.bootstrap.servers", route.bootstrapServers());
    }

    /**
     * A service of the sample on Payara Micro 6 that is to be built. The server has the local data source of the
     * documentation, which all services use.
     *
     * @param war the sample's, or another of that name
     * @param database of the data source
     */
    public PayaraMicro.Builder service(Path war, ApplicationDatabase database) {
        return PayaraMicro.builder(installation.file(BuiltFile.PAYARA))
                .war(war)
                .library(database.driver())
                .postBoot(Template.of("payara-local.asadmin").with(database).text());
    }

    /**
     * A database as the data source of a service reaches it.
     *
     * @param user who has the server's password
     */
    public ApplicationDatabase applicationDatabase(Route route, String database, String user) {
        return new ApplicationDatabase(route.postgresPort(), database, user, postgres.password());
    }

    /**
     * An application on Payara Micro that receives and defines its data source itself.
     *
     * @param name the keys of its data source are {@code <name>.database.url}, {@code .user} and {@code .password}
     */
    public PayaraMicro.Builder receiver(Route route, BuiltFile war, String name, String database) {
        return PayaraMicro.builder(installation.file(BuiltFile.PAYARA))
                .war(installation.file(war))
                .systemProperty(name + ".database.url", route.jdbcUrl(database))
                .systemProperty(name + ".database.user", postgres.user())
                .env(environmentName(name + ".database.password"), postgres.password())
                .systemProperty("twinbox.inbox.kafka.bootstrap.servers", route.bootstrapServers());
    }

    /** MicroProfile Config's name of a key in the environment. */
    private static String environmentName(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }

    /** Kills all servers. */
    @Override
    public void close() {
        brokers.forEach(KafkaBroker::close);
        postgres.close();
    }
}
