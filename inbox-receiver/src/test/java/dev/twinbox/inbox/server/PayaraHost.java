package dev.twinbox.inbox.server;

import dev.twinbox.fixtures.PayaraControl;
import dev.twinbox.fixtures.PayaraMicro;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A Payara Micro server in a child JVM. Applications can be deployed and undeployed while it runs. Its threads, MBeans
 * and class loaders can be inspected.
 */
public final class PayaraHost implements AutoCloseable {

    private final PayaraMicro server;

    /** Starts a server. Returns when it accepts commands. */
    public PayaraHost() {
        this(List.of());
    }

    /**
     * Starts a server. Returns when it accepts commands.
     *
     * @param shared jars that applications take from the server, although their WARs hold them too. So their classes are
     *     loaded and compiled once, and not for each deployment.
     */
    public PayaraHost(List<Path> shared) {
        PayaraMicro.Builder builder =
                PayaraMicro.builder().jvmOptions("-XX:TieredStopAtLevel=1").redeployable();
        shared.forEach(builder::library);
        server = builder.build();
        server.start();
        control().awaitReady();
    }

    /** Inspects the server. */
    public PayaraControl control() {
        return server.control();
    }

    /**
     * Deploys an application. Its success shows only in the application or in the log. Returns what was logged
     * meanwhile.
     */
    public String deploy(String name, Path war) {
        return control().deploy(name, war);
    }

    /** Undeploys an application. Returns what was logged meanwhile. */
    public String undeploy(String name) {
        return control().undeploy(name);
    }

    /** All that the server has printed. */
    public String log() {
        return server.log();
    }

    /** The body of a GET; the status code if there is none. */
    public String get(String path) {
        return response(path).body();
    }

    public int status(String path) {
        return response(path).statusCode();
    }

    private HttpResponse<String> response(String path) {
        return Requests.get(server.uri(path), server::isAlive);
    }

    /** Sends SIGTERM and returns at once. */
    public void sendTerm() {
        ProcessHandle.of(server.pid()).ifPresent(ProcessHandle::destroy);
    }

    /** SIGSTOP: connections stay open, but the server does not answer. */
    public void pause() {
        server.pause();
    }

    /** SIGCONT. */
    public void resume() {
        server.resume();
    }

    public boolean isAlive() {
        return server.isAlive();
    }

    /** Waits for the end. */
    public void awaitEnd(Duration limit) {
        server.awaitExit(limit);
    }

    /** SIGKILL. */
    @Override
    public void close() {
        server.close();
    }
}
