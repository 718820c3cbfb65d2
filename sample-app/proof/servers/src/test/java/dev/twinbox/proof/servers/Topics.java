package dev.twinbox.proof.servers;

import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;

/** The topics of one server's checks. All servers use the same broker. */
final class Topics {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private Topics() {}

    /** Creates topics with one partition. Those that an earlier server has left are deleted before. */
    static void createAnew(KafkaBroker kafka, List<String> names) throws ExecutionException, InterruptedException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", kafka.bootstrapServers()))) {
            Set<String> old = new HashSet<>(admin.listTopics().names().get());
            old.retainAll(names);
            admin.deleteTopics(old).all().get();
            await().atMost(LIMIT)
                    .until(() -> admin.listTopics().names().get().stream().noneMatch(names::contains));
        }
        names.forEach(name -> kafka.createTopic(name, 1));
    }
}
