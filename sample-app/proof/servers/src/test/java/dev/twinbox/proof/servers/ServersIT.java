package dev.twinbox.proof.servers;

import dev.twinbox.fixtures.ApplicationServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Nested;

/** {@link ServerChecks} on each server that Twinbox supports. */
class ServersIT {

    private static final Path JAVA_HOME = Path.of(System.getProperty("java.home"));

    private static Path distribution(String server) {
        return Path.of(System.getProperty("servers." + server));
    }

    /** From the name of the file. */
    private static String version(String server) {
        return distribution(server).getParent().getFileName().toString();
    }

    @Nested
    class WildFly39 extends ServerChecks {

        WildFly39() {
            super("WildFly " + version("wildfly"), "wildfly", WildFly.DATA_SOURCE, WildFly.OTHER_DATA_SOURCE, "through an EJB");
        }

        @Override
        ApplicationServer server(ApplicationDatabase database) {
            return new WildFly(JAVA_HOME, distribution("wildfly"), database);
        }
    }

    @Nested
    class Liberty26 extends ServerChecks {

        Liberty26() {
            super("Open Liberty " + version("liberty"), "liberty", OpenLiberty.DATA_SOURCE, OpenLiberty.OTHER_DATA_SOURCE, "directly");
        }

        @Override
        ApplicationServer server(ApplicationDatabase database) {
            return new OpenLiberty(JAVA_HOME, distribution("liberty"), database);
        }
    }

    @Nested
    class GlassFish7 extends ServerChecks {

        GlassFish7() {
            super("GlassFish " + version("glassfish"), "glassfish", GlassFish.DATA_SOURCE, GlassFish.OTHER_DATA_SOURCE, "through an EJB");
        }

        @Override
        ApplicationServer server(ApplicationDatabase database) {
            return new GlassFish(JAVA_HOME, distribution("glassfish"), database);
        }
    }

    @Nested
    class Payara7 extends ServerChecks {

        Payara7() {
            super("Payara Micro " + version("payara7"), "payara7", PayaraMicroServer.DATA_SOURCE, PayaraMicroServer.OTHER_DATA_SOURCE, "through an EJB");
        }

        @Override
        ApplicationServer server(ApplicationDatabase database) {
            return new PayaraMicroServer("payara7", Jdk.atLeast(21), distribution("payara7"), database);
        }
    }

    @Nested
    class Payara6 extends ServerChecks {

        Payara6() {
            super("Payara Micro " + version("payara6"), "payara6", PayaraMicroServer.DATA_SOURCE, PayaraMicroServer.OTHER_DATA_SOURCE, "through an EJB");
        }

        @Override
        ApplicationServer server(ApplicationDatabase database) {
            return new PayaraMicroServer("payara6", JAVA_HOME, distribution("payara6"), database);
        }
    }
}
