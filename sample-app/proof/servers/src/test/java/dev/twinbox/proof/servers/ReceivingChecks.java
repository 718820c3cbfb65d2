package dev.twinbox.proof.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.proof.appserver.Product;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What must hold when an application receives. */
abstract class ReceivingChecks extends PublishingChecks {

    ReceivingChecks(Product product, String way) {
        super(product, way);
    }

    @Test
    void eachHandlerHandlesEachEventOnceAlsoIfItComesTwice() {
        List<String> ids = ids(20);
        orders.send("orders", ids);
        orders.send("orders", ids);
        List<String> last = ids(1);
        orders.send("orders", last);

        for (String handler : List.of("cdi", "transactional", "ejb", "list")) {
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(tables.effects(handler)).contains(last.get(0)));
            assertThat(tables.effects(handler)).containsAll(ids).doesNotHaveDuplicates();
        }
    }

    @Test
    void aBatchIsOneTransactionUnlessAHandlerWantsOneForEachEvent() {
        List<String> batch = ids(30);
        List<String> single = ids(5);
        orders.send("tenants", batch);
        orders.send("single", single);

        await().atMost(LIMIT).until(() -> tables.effects("of nobody").containsAll(batch));
        await().atMost(LIMIT).until(() -> tables.effects("single").size() == 5);
        assertThat(transactionsOf(batch)).isEqualTo(1);
        assertThat(transactionsOf(single)).isEqualTo(5);
        assertThat(tables.effects("single")).isEqualTo(single);
    }

    private long transactionsOf(List<String> ids) {
        return ids.stream()
                .flatMap(id -> tables.texts("select tx::text from effect where event = ?", id).stream())
                .distinct()
                .count();
    }

    @Test
    void noRequestScopedInstanceSurvivesACall() {
        List<String> ids = ids(20);
        for (int i = 0; i < ids.size(); i++) {
            orders.add("tenants", ids.get(i), 0, i % 2 == 0 ? "acme" : null);
        }
        orders.flush();

        await().atMost(LIMIT)
                .until(() -> tables.effects("of acme").size() >= 10
                        && tables.effects("of nobody").contains(ids.get(19)));
        for (int i = 0; i < ids.size(); i++) {
            assertThat(tables.effects(i % 2 == 0 ? "of acme" : "of nobody")).contains(ids.get(i));
        }
    }

    @Test
    void whatFailsIsParkedAndRetriedInOrder() {
        List<String> ids = ids(6);
        for (int i = 0; i < ids.size(); i++) {
            orders.add("failing", ids.get(i), i == 2 ? 6 : 0, null);
        }
        orders.flush();

        await().atMost(LIMIT).until(() -> tables.count("inbox_parked") > 0);
        await().atMost(LIMIT).until(() -> tables.effects("failing").size() == ids.size());
        assertThat(tables.effects("failing")).isEqualTo(ids);
    }

    @Test
    void aHandlerThatExceedsItsTimeLimitIsRolledBackAndRetried() {
        String slow = ref();
        String next = ref();
        orders.add("slow", slow, 1, null);
        orders.add("slow", next, 0, null);
        orders.flush();

        await().atMost(LIMIT)
                .until(() -> tables.texts("select error from inbox_parked where handler = 'slow'").stream()
                        .anyMatch(error -> error.contains("HandlerTimeoutException")));
        await().atMost(LIMIT).until(() -> tables.effects("slow").size() == 2);
        assertThat(tables.effects("slow")).containsExactly(slow, next);
    }

    @Test
    void atMostOnceEachEventHasOneEffect() {
        List<String> ids = ids(20);
        orders.send("signals", ids);

        await().atMost(LIMIT).until(() -> tables.effects("signal").size() >= ids.size());
        assertThat(tables.effects("signal")).isEqualTo(ids);
    }

    @Test
    void whatAHandlerPublishesSharesItsTransaction() {
        List<String> ids = IntStream.range(100, 120)
                .mapToObj(account -> account + "-" + ref())
                .toList();
        orders.send("replies", ids);
        orders.send("replies", ids);

        await().atMost(LIMIT).until(() -> ids.stream().allMatch(this::isPublished));
        assertConsistent();
    }
}
