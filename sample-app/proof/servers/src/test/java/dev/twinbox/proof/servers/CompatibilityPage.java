package dev.twinbox.proof.servers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Notes what each check said on a server, and writes {@code docs/reference/compatibility.md} from all that has been
 * noted if the system property {@code twinbox.it.write-compatibility} is true.
 */
final class CompatibilityPage implements TestWatcher, AfterAllCallback {

    private static final Path NOTES = Path.of("target", "compatibility");
    private static final Path PAGE =
            Path.of(System.getProperty("twinbox.root"), "docs", "reference", "compatibility.md");

    private static final String HEAD = """
            # Compatibility

            Each cell comes from a run of `ServersWildFlyIT`, `ServersLibertyIT`, `ServersGlassFishIT`, `ServersPayara7IT` or
            `ServersPayara6IT`. `./mvnw -Pproof,servers verify` runs them with all other tests, and so does CI. With
            `-Dtwinbox.it.write-compatibility=true` they write this page.

            Each starts its server with the configuration of [Application servers](../how-to/application-servers.md),
            deploys the same application, and looks at it from outside, by HTTP, SQL and Kafka. The database is PostgreSQL
            18.4. What does not hold is at the end.

            """;

    private static final String TAIL = """

            ## What does not hold

            These are limits of the servers. [Application servers](../how-to/application-servers.md) has what to do about each.

            - Payara and GlassFish look for timed-out XA transactions every ten seconds only. A transaction may exceed its limit by
              that time and commit. Business rows and events stay together.
            - Open Liberty uses its own Yasson for JSON-B, also if an application brings Johnzon.
            - GlassFish has no MicroProfile Health and Metrics, and no OpenTelemetry. WildFly's distribution has no MicroProfile
              Metrics.
            - Payara Micro has no EARs. No server runs an EAR with Twinbox in its `lib`: each refuses it.
            - WildFly and Open Liberty look for the keys of `@ConfigProperty` in the EAR's own files, not in those of its WAR.

            Not tested: Hibernate in the WAR on Open Liberty and GlassFish.
            """;

    /** Of one check: how often it was green, and how often it ran; why it does not apply. */
    private record Count(int green, int all, @Nullable String reason) {
        Count plus(int more) {
            return new Count(green + more, all + 1, reason);
        }

        @Override
        public String toString() {
            if (reason != null) {
                return reason;
            }
            return green == all ? "yes (" + all + ")" : "**" + green + " of " + all + "**";
        }
    }

    private final Map<String, Count> counts = new TreeMap<>();

    @Override
    public void testSuccessful(ExtensionContext context) {
        note(context, 1);
    }

    @Override
    public void testFailed(ExtensionContext context, Throwable cause) {
        note(context, 0);
    }

    @Override
    public void testAborted(ExtensionContext context, Throwable cause) {
        String reason = String.valueOf(cause.getMessage()).replace("Assumption failed: ", "");
        counts.put(check(context), new Count(0, 0, reason));
    }

    private void note(ExtensionContext context, int green) {
        counts.merge(check(context), new Count(green, 1, null), (old, one) -> old.plus(green));
    }

    /** The words of the method's name. */
    private static String check(ExtensionContext context) {
        return context.getRequiredTestMethod()
                .getName()
                .replaceAll("([A-Z])", " $1")
                .toLowerCase(Locale.ROOT)
                .strip();
    }

    @Override
    public void afterAll(ExtensionContext context) {
        Optional<ServerChecks> checks =
                context.getTestInstance().filter(ServerChecks.class::isInstance).map(ServerChecks.class::cast);
        if (checks.isEmpty() || counts.isEmpty()) {
            return;
        }
        // Another JVM may test another server, and write the page, too.
        try (FileChannel turn = FileChannel.open(
                        Files.createDirectories(NOTES).resolveSibling("compatibility.lock"),
                        StandardOpenOption.CREATE,
                        StandardOpenOption.WRITE);
                FileLock ignored = turn.lock()) {
            List<String> lines = new ArrayList<>();
            lines.add(checks.get().about() + "; " + LocalDate.now(ZoneOffset.UTC));
            Path note = NOTES.resolve(checks.get().title());
            counts.forEach((check, count) -> lines.add(check + "=" + count));
            lines.addAll(notRunNow(note));
            Files.write(note, lines);
            if (Boolean.getBoolean("twinbox.it.write-compatibility")) {
                Files.writeString(PAGE, page());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A run of some checks replaces what is noted of them, and nothing else. */
    private List<String> notRunNow(Path note) throws IOException {
        if (!Files.exists(note)) {
            return List.of();
        }
        return Files.readAllLines(note).stream()
                .skip(1)
                .filter(line -> !counts.containsKey(line.substring(0, line.indexOf('='))))
                .toList();
    }

    private static String page() throws IOException {
        Map<String, List<String>> servers = new TreeMap<>();
        try (Stream<Path> notes = Files.list(NOTES)) {
            for (Path each : notes.toList()) {
                servers.put(each.getFileName().toString(), Files.readAllLines(each));
            }
        }
        StringBuilder page = new StringBuilder(HEAD);
        page.append(
                "| server | runs with | JPA | APIs that it does not have | data source | the outbox writes | run on |\n");
        page.append("|---|---|---|---|---|---|---|\n");
        servers.forEach((title, lines) ->
                page.append("| " + title + " | " + lines.get(0).replace("; ", " | ") + " |\n"));
        page.append("\nThe number says how many variants of a check ran.\n");
        page.append("\n| check | " + String.join(" | ", servers.keySet()) + " |\n");
        page.append("|---|" + "---|".repeat(servers.size()) + "\n");
        for (String check : checks(servers)) {
            page.append("| " + check + " | "
                    + servers.values().stream().map(lines -> cell(lines, check)).collect(Collectors.joining(" | "))
                    + " |\n");
        }
        return page.append(TAIL).toString();
    }

    private static TreeSet<String> checks(Map<String, List<String>> servers) {
        return servers.values().stream()
                .flatMap(lines -> lines.stream().skip(1))
                .map(line -> line.substring(0, line.indexOf('=')))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String cell(List<String> lines, String check) {
        return lines.stream()
                .filter(line -> line.startsWith(check + "="))
                .map(line -> line.substring(check.length() + 1))
                .findFirst()
                .orElse("not run");
    }
}
