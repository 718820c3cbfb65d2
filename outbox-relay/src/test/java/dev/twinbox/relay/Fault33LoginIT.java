package dev.twinbox.relay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * SASL/OAUTHBEARER ended with a {@code NoClassDefFoundError}, and there was no way to add a jar with a login class of
 * one's own. Both run from the shipped jar here, up to the login: the broker of this test knows no SASL.
 */
@Tag("proof")
class Fault33LoginIT {
    private static final Path SHIPPED = Path.of("target", "twinbox-relay.jar");
    private static final Duration SOON = Duration.ofSeconds(90);

    private static final String LOGIN_CLASS = """
            package com.example;

            import java.nio.file.*;
            import java.util.*;
            import javax.security.auth.callback.Callback;
            import javax.security.auth.login.AppConfigurationEntry;
            import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;

            public class Login implements AuthenticateCallbackHandler {
                public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> jaas) {
                    try {
                        Files.writeString(Path.of(System.getProperty("proof")), mechanism);
                    } catch (java.io.IOException e) {
                        throw new IllegalStateException(e);
                    }
                }

                public void handle(Callback[] callbacks) {}

                public void close() {}
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void oauthBearerWorksFromTheShippedJar() throws Exception {
        AtomicInteger tokens = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/token", exchange -> {
            byte[] answer = ("{\"access_token\":\"" + token() + "\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
                    .getBytes(UTF_8);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            try (OutputStream body = exchange.getResponseBody()) {
                body.write(answer);
            }
            tokens.incrementAndGet();
        });
        server.start();
        try (RelayRig rig = RelayRig.create()) {
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/token";
            Map<String, String> kafka = new HashMap<>();
            kafka.put("twinbox.relay.kafka.security.protocol", "SASL_PLAINTEXT");
            kafka.put("twinbox.relay.kafka.sasl.mechanism", "OAUTHBEARER");
            kafka.put(
                    "twinbox.relay.kafka.sasl.login.callback.handler.class",
                    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler");
            kafka.put("twinbox.relay.kafka.sasl.oauthbearer.token.endpoint.url", url);
            kafka.put(
                    "twinbox.relay.kafka.sasl.jaas.config",
                    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
                            + " clientId=\"relay\" clientSecret=\"pa$$w0rd\";");
            RelayProcess relay = start(rig, SHIPPED, kafka, "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=" + url);
            await("it has a token, and asks the broker with it")
                    .atMost(SOON)
                    .until(() -> tokens.get() > 0 && relay.log().contains("client mechanism OAUTHBEARER"));
            assertThat(relay.log()).doesNotContain("NoClassDefFoundError", "pa$$w0rd");
            relay.close();
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aLoginClassOfOnesOwnComesFromTheFolderBesideTheJar() throws Exception {
        Path jar = Files.copy(SHIPPED, folder.resolve("twinbox-relay.jar"));
        Path extra = Files.createDirectory(folder.resolve("lib")).resolve("login.jar");
        compileInto(extra);
        Path proof = folder.resolve("proof");
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> kafka = Map.of(
                    "twinbox.relay.kafka.security.protocol", "SASL_PLAINTEXT",
                    "twinbox.relay.kafka.sasl.mechanism", "PLAIN",
                    "twinbox.relay.kafka.sasl.client.callback.handler.class", "com.example.Login",
                    "twinbox.relay.kafka.sasl.jaas.config",
                            "org.apache.kafka.common.security.plain.PlainLoginModule required"
                                    + " username=\"relay\" password=\"x\";");
            RelayProcess relay = start(rig, jar, kafka, "-Dproof=" + proof);
            await("the class is used")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(proof).hasContent("PLAIN"));
            relay.close();
        }
    }

    private static RelayProcess start(RelayRig rig, Path jar, Map<String, String> kafka, String option) {
        Map<String, String> config = rig.config();
        config.putAll(kafka);
        return RelayProcess.builder(jar)
                .config(config)
                .jvmOptions("-Xmx256m", option)
                .build()
                .start();
    }

    /** Not signed: the client only reads its claims. */
    private static String token() {
        long now = System.currentTimeMillis() / 1_000;
        return encode("{\"alg\":\"RS256\"}") + "."
                + encode("{\"sub\":\"relay\",\"scope\":\"kafka\",\"iat\":" + now + ",\"exp\":" + (now + 3_600) + "}")
                + "." + encode("signature");
    }

    private static String encode(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(UTF_8));
    }

    private void compileInto(Path jar) throws IOException {
        Path source = folder.resolve("Login.java");
        Files.writeString(source, LOGIN_CLASS);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        int result =
                compiler.run(null, null, null, "-cp", SHIPPED.toString(), "-d", folder.toString(), source.toString());
        assertThat(result).isZero();
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("com/example/Login.class"));
            out.write(Files.readAllBytes(folder.resolve("com/example/Login.class")));
            out.closeEntry();
        }
    }
}
