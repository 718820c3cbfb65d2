package dev.twinbox.inbox.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.operator.ApiDocument;
import dev.twinbox.fixtures.ApiAttacks;
import dev.twinbox.fixtures.OpenApiRules;
import dev.twinbox.fixtures.PageFiles;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The pages come from the jar alone, run no foreign script, and show what the API has. No browser is needed. */
class PagesTest {
    private final ConsoleServer server = new ConsoleServer(
            ConsoleConfig.read(null, Map.of(), Map.of("twinbox.console.port", "0")),
            new InboxDatabase(new SqlIdentifier(null, "inbox_event"), () -> {
                throw new SQLException("there is none");
            }));

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void allThatThePagesLoadIsServedAndNothingElseRuns() throws IOException {
        PageFiles files = files();

        assertThat(files.all())
                .containsKeys("", "main.js", "overview.js", "paused.js", "stuck.js")
                .hasSizeGreaterThan(10);
        assertThat(files.dangers()).isEmpty();
        assertThat(files.missingIds()).isEmpty();
    }

    @Test
    void payloadsCanBeSwitchedOff() throws IOException {
        Map<String, String> off = Map.of(
                "twinbox.console.port",
                "0",
                "twinbox.console.reader-token",
                ApiAttacks.READER,
                "twinbox.console.payloads",
                "false");
        try (ConsoleServer closed = new ConsoleServer(
                ConsoleConfig.read(null, Map.of(), off),
                new InboxDatabase(new SqlIdentifier(null, "inbox_event"), () -> {
                    throw new SQLException("not asked");
                }))) {
            assertThat(ApiAttacks.exchange(
                            closed.port(), ApiAttacks.request("GET", "/parked/1/payload", ApiAttacks.READER)))
                    .startsWith("HTTP/1.1 403 ")
                    .contains("twinbox.console.payloads=false");
        }
    }

    @Test
    void theOverviewShowsFieldsThatTheApiHas() throws IOException {
        List<String> fields = Pattern.compile("\\bstatus\\.(\\w+)")
                .matcher(files().all().get("overview.js"))
                .results()
                .map(found -> found.group(1))
                .distinct()
                .toList();

        assertThat(fields).hasSizeGreaterThan(5);
        assertThat(new OpenApiRules(ApiDocument.read(ReceiverApi.class)).properties("Status"))
                .containsAll(fields);
    }

    private PageFiles files() throws IOException {
        return new PageFiles(name -> {
            String answer = ApiAttacks.exchange(
                    server.port(),
                    "GET " + ConsoleServer.PATH + "/" + name
                            + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            if (!answer.startsWith("HTTP/1.1 200 ")) {
                throw new IOException(name + ": " + answer);
            }
            return answer.substring(answer.indexOf("\r\n\r\n") + 4);
        });
    }
}
