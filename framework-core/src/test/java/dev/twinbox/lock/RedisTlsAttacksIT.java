package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.config.Secret;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A host that is not the Redis of the URL, but has a certificate of an authority that the application trusts. */
@Timeout(60)
class RedisTlsAttacksIT {

    private static final String PASSWORD = "geheim-42";
    private static final char[] STORE_PASSWORD = "changeit".toCharArray();

    @TempDir
    Path folder;

    private final StringBuffer heard = new StringBuffer();
    private final LogLines log = new LogLines(RedisLeases.class);

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void fault91AHostWithTheCertificateOfAnotherOneDoesNotGetThePassword() throws Exception {
        SSLContext context = context("dns:other.example");
        try (ServerSocket server = listen(context);
                QuickLeases leases = leases(server, context)) {
            assertThatThrownBy(() -> leases.take("key", "me", Duration.ofMinutes(1)))
                    .isInstanceOf(AwayException.class);
        }

        assertThat(heard.toString()).doesNotContain(PASSWORD);
        assertThat(log.lines())
                .singleElement()
                .asString()
                .contains("the TLS handshake fails: ", "127.0.0.1", "host name of the certificate")
                .contains("the database decides about locks")
                .doesNotContain(PASSWORD);
    }

    @Test
    void fault91TheHostOfTheCertificateGetsThePassword() throws Exception {
        SSLContext context = context("ip:127.0.0.1");
        try (ServerSocket server = listen(context);
                QuickLeases leases = leases(server, context)) {
            assertThatThrownBy(() -> leases.take("key", "me", Duration.ofMinutes(1)))
                    .as("it is not a Redis")
                    .isInstanceOf(AwayException.class);
            await().until(() -> heard.indexOf(PASSWORD) >= 0);
        }
    }

    private static QuickLeases leases(ServerSocket server, SSLContext context) {
        return new RedisLeases(
                new LockConfiguration.Redis(
                        RedisAddress.parse("rediss://127.0.0.1:" + server.getLocalPort()), null, new Secret(PASSWORD)),
                () -> "twinbox:",
                2_000,
                new RedisLeases.Sockets(Runnable::run, context.getSocketFactory()));
    }

    private ServerSocket listen(SSLContext context) throws IOException {
        ServerSocket server =
                context.getServerSocketFactory().createServerSocket(0, 10, InetAddress.getLoopbackAddress());
        CompletableFuture.runAsync(() -> hear(server), task -> new Thread(task).start());
        return server;
    }

    private void hear(ServerSocket server) {
        while (!server.isClosed()) {
            try (Socket socket = server.accept();
                    InputStream in = socket.getInputStream()) {
                byte[] buffer = new byte[4_096];
                for (int n = in.read(buffer); n > 0; n = in.read(buffer)) {
                    heard.append(new String(buffer, 0, n, StandardCharsets.ISO_8859_1));
                    socket.getOutputStream().write("+OK\r\n".getBytes(StandardCharsets.ISO_8859_1));
                    socket.getOutputStream().flush();
                }
            } catch (IOException e) {
                heard.append('<').append(e.getMessage()).append('>');
            }
        }
    }

    /** With a key, its certificate for a name, and trust in it. */
    private SSLContext context(String name) throws Exception {
        Path file = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "redis",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=redis",
                        "-ext",
                        "san=" + name,
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(STORE_PASSWORD),
                        "-storetype",
                        "PKCS12")
                .inheritIO()
                .start();
        assertThat(keytool.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, STORE_PASSWORD);
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("redis", keys.getCertificate("redis"));
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, STORE_PASSWORD);
        TrustManagerFactory others = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        others.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), others.getTrustManagers(), null);
        return context;
    }
}
