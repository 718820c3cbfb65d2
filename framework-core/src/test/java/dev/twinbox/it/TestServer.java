package dev.twinbox.it;

import dev.twinbox.fixtures.PayaraMicro;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jboss.shrinkwrap.api.exporter.ZipExporter;
import org.jboss.shrinkwrap.api.spec.WebArchive;

/** The applications of one test class in a Payara Micro. They are undeployed when it is closed. */
final class TestServer implements AutoCloseable {

    private final PayaraMicro payara;
    private final int logBefore;
    private final List<String> applications = new ArrayList<>();

    private TestServer(PayaraMicro payara) {
        this.payara = payara;
        logBefore = payara.log().length();
    }

    /** Most tests of this JVM share one server. It is started when it is first needed and ends with the JVM. */
    private static final class Shared {
        static final PayaraMicro SERVER = start();
    }

    static TestServer shared() {
        return new TestServer(Shared.SERVER);
    }

    /** A server besides the shared one. It ends with the JVM, too. */
    static TestServer another() {
        return new TestServer(start());
    }

    private static PayaraMicro start() {
        PayaraMicro payara = PayaraMicro.builder()
                .jvmOptions("-XX:TieredStopAtLevel=1")
                .redeployable()
                .build()
                .start();
        payara.control().awaitReady();
        return payara;
    }

    /** Deploys applications one after the other, also after one that fails. Only its state or the log shows that it failed. */
    TestServer deploy(List<WebArchive> wars) throws Exception {
        for (WebArchive war : wars) {
            String name = war.getName().replace(".war", "");
            applications.add(name);
            payara.control().deploy(name, export(war));
        }
        return this;
    }

    private static Path export(WebArchive war) throws Exception {
        // A folder of this JVM, because another JVM may build applications of the same names.
        Path folder = Files.createDirectories(Path.of(
                "target", "test-wars", Long.toString(ProcessHandle.current().pid())));
        Path file = folder.resolve(war.getName());
        war.as(ZipExporter.class).exportTo(file.toFile(), true);
        return file.toAbsolutePath();
    }

    PayaraMicro payara() {
        return payara;
    }

    /** What the server has printed since it has these applications. */
    String log() {
        return payara.log().substring(logBefore);
    }

    @Override
    public void close() {
        applications.forEach(payara.control()::undeploy);
    }
}
