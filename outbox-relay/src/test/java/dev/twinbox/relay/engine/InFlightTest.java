package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.Position;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

class InFlightTest {
    private final InFlight inFlight = new InFlight(new RelayConfig.Page(10, 100, 3));

    @Test
    void aPageIsDoneWhenAllOfItIsAcknowledgedAndWaitsForTheOneBeforeIt() throws Exception {
        Page first = added(2, 50);
        Page second = added(1, 50);
        assertThat(inFlight.take()).isSameAs(first);
        assertThat(inFlight.take()).isSameAs(second);
        second.acknowledged(second.records().get(0));
        assertThat(inFlight.pollDone()).isNull();
        first.acknowledged(first.records().get(0));
        assertThat(inFlight.pollDone()).isNull();
        first.acknowledged(first.records().get(0));
        assertThat(inFlight.pollDone()).isSameAs(first);
        assertThat(inFlight.pollDone()).isSameAs(second);
        assertThat(inFlight.isSettled()).isTrue();
    }

    @Test
    void itIsFullWhenAnotherPageWouldNotFitAndOneOfAnySizeAlwaysFits() throws Exception {
        assertThat(inFlight.hasRoom()).isTrue();
        Page large = added(1, 10_000);
        assertThat(inFlight.hasRoom()).isFalse();
        inFlight.take();
        large.acknowledged(large.records().get(0));
        inFlight.pollDone();
        added(1, 100);
        added(1, 100);
        assertThat(inFlight.hasRoom()).isTrue();
        added(1, 1);
        assertThat(inFlight.hasRoom()).isFalse();
    }

    @Test
    void sealedItDropsWhatIsNotSentAndKeepsWhatIs() throws Exception {
        Page sent = added(1, 50);
        added(1, 50);
        inFlight.take();
        inFlight.seal();
        assertThat(inFlight.take()).isNull();
        assertThat(inFlight.awaitRoom()).isFalse();
        assertThat(inFlight.isSettled()).isFalse();
        sent.acknowledged(sent.records().get(0));
        assertThat(inFlight.pollDone()).isSameAs(sent);
        assertThat(inFlight.isSettled()).isTrue();
    }

    private Page added(int records, long bytes) {
        List<OutboxRecord> list = LongStream.rangeClosed(1, records)
                .mapToObj(seq -> new OutboxRecord(seq, new ProducerRecord<>("t", new byte[0])))
                .toList();
        Page page = new Page(list, Position.START, bytes);
        page.begin(new Page.Listener() {
            @Override
            public void done(Page done) {}

            @Override
            public void failed(OutboxRecord record, Exception failure) {
                throw new AssertionError(failure);
            }
        });
        inFlight.add(page);
        return page;
    }
}
