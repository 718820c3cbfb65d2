package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.proof.ledger.OrderLedger.Partitions;
import dev.twinbox.proof.ledger.OrderLedgerReader;
import dev.twinbox.proof.ledger.OrderLedgerReader.Look;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.sql.SQLException;
import java.time.Duration;

/** Compares the orders, and the series. */
final class Comparison implements AutoCloseable {

    private static final OrderLedgerReader.Limits LIMITS =
            new OrderLedgerReader.Limits(Duration.ofSeconds(60), Duration.ofSeconds(60));

    private final OrderLedgerReader orders;
    private final SeriesReader series;

    Comparison(SoakLandscape landscape, Moves moves) {
        orders = new OrderLedgerReader(
                landscape.landscape(), SoakLandscape.CUSTOMERS, Partitions.GROWING, LIMITS, record -> {});
        series = new SeriesReader(landscape.postgres(), moves);
    }

    /** What both ledgers found. */
    record Report(LedgerReport orders, SeriesReport series) {

        boolean isExact() {
            return orders.isExact() && series.isExact();
        }

        JsonObjectBuilder json() {
            JsonObjectBuilder byVersion = Json.createObjectBuilder();
            series.byVersion().forEach(byVersion::add);
            return Json.createObjectBuilder()
                    .add("committed", orders.committed())
                    .add("records", orders.records())
                    .add("repeats", orders.repeats())
                    .add(
                            "effects",
                            orders.effects().values().stream()
                                    .mapToInt(Integer::intValue)
                                    .sum())
                    .add("series_committed", series.committed())
                    .add("series_applied", series.applied())
                    .add("series_by_version", byVersion)
                    .add("series_out_of_order_in_moves", Json.createArrayBuilder(series.moved()))
                    .add(
                            "faults_found",
                            orders.faults().size() + series.faults().size());
        }

        @Override
        public String toString() {
            return orders + "\n" + series;
        }
    }

    /** A comparison while everything runs. */
    record Glance(Look orders, SeriesReport series) {

        Report report() {
            return new Report(orders.report(), series);
        }

        boolean isAtRest() {
            return orders.isAtRest() && series.onTheirWay() == 0;
        }

        long onTheirWay() {
            return orders.unsent()
                    + orders.unshipped()
                    + orders.parkedByRelay()
                    + orders.parkedByReceiver()
                    + series.onTheirWay();
        }

        JsonObjectBuilder json() {
            return report().json()
                    .add("unsent", orders.unsent())
                    .add("unshipped", orders.unshipped())
                    .add("parked_by_relay", orders.parkedByRelay())
                    .add("parked_by_receiver", orders.parkedByReceiver());
        }

        @Override
        public String toString() {
            return orders.report() + "; not delivered yet: " + orders.unsent() + " to Kafka, " + orders.unshipped()
                    + " to the receivers; parked: " + orders.parkedByRelay() + " and " + orders.parkedByReceiver()
                    + ". " + series;
        }
    }

    /** One look while everything runs. It has to be repeated if a server does not answer. */
    Glance look() throws SQLException {
        return new Glance(orders.look(), series.look());
    }

    /** The look when no event is on its way any more. */
    Report lastLook() throws SQLException {
        return new Report(orders.lastLook(), series.lastLook());
    }

    @Override
    public void close() {
        orders.close();
    }
}
