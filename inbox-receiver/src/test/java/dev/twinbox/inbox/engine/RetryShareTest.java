package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Retries run on the workers, at most on half of them while new events come. */
class RetryShareTest {

    private final WorkerPool pool = new WorkerPool(Supervisor.DAEMONS, "worker", 1);

    @AfterEach
    void stop() {
        assertThat(pool.stop(Duration.ofSeconds(10))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1", "2, 1, 1", "3, 1, 2", "4, 2, 3", "16, 8, 15"})
    void retriesHaveHalfOfTheWorkersWhileNewEventsComeAndAllButOneOtherwise(int workers, int busy, int idle) {
        RetryShare share = new RetryShare(pool, workers);
        List<RetryShare.Place> places = takeAll(share);
        assertThat(places).hasSize(idle);
        assertThat(places).noneMatch(RetryShare.Place::giveBackIfTooMuch);

        share.execute(() -> {});
        assertThat(places.stream().filter(RetryShare.Place::giveBackIfTooMuch)).hasSize(idle - busy);

        places.forEach(RetryShare.Place::giveBack);
        places.forEach(RetryShare.Place::giveBack);
        assertThat(takeAll(share)).hasSize(busy);
    }

    private static List<RetryShare.Place> takeAll(RetryShare share) {
        List<RetryShare.Place> places = new ArrayList<>();
        for (RetryShare.Place place = share.take(); place != null; place = share.take()) {
            places.add(place);
        }
        return places;
    }
}
