package dev.twinbox.proof.soak;

import java.util.List;

/** All that writes during a run. */
final class Traffic implements AutoCloseable {

    private final OrderTraffic orders;
    private final LongTransactions transactions;
    private final SeriesTraffic notices;
    private final SeriesTraffic returns;

    Traffic(SoakLandscape landscape, Soak.Options options) {
        orders = new OrderTraffic(landscape.orders(), options.seed(), options.perSecond());
        transactions = new LongTransactions(landscape.postgres(), options.seed());
        notices = new SeriesTraffic(
                landscape.postgres(), SeriesTraffic.NOTICES, List.of(SeriesTraffic.NOTICE_GIVEN), options.seed());
        returns = new SeriesTraffic(
                landscape.postgres(),
                SeriesTraffic.RETURNS,
                List.of(SeriesTraffic.RETURN_ASKED, SeriesTraffic.RETURN_REFUNDED),
                options.seed());
    }

    void start() {
        orders.start();
        transactions.start();
        notices.start();
        returns.start();
    }

    OrderTraffic orders() {
        return orders;
    }

    LongTransactions transactions() {
        return transactions;
    }

    /** Writes to the topic that is deleted and created again. */
    SeriesTraffic notices() {
        return notices;
    }

    /** Returns when the last transaction has ended. */
    @Override
    public void close() {
        orders.close();
        transactions.close();
        notices.close();
        returns.close();
    }
}
