package dev.twinbox.proof.matrix;

import static dev.twinbox.proof.matrix.KillPoint.enter;
import static dev.twinbox.proof.matrix.KillPoint.leave;

/**
 * The steps of a transaction of the sample's orders service, in order, each with the place in the code where it is
 * done.
 */
enum ProducerStep {
    BUSINESS_WRITE("P1", "business write, not flushed", leave("dev.twinbox.sample.orders.OrderDesk", "place")),
    FLUSH("P2", "flush", enter("dev.twinbox.outbox.TransactionBuffer", "write")),
    OUTBOX_INSERT("P3", "outbox insert", leave("dev.twinbox.outbox.OutboxInsert", "insert")),
    BEFORE_COMMIT("P4", "before commit", enter("org.postgresql.jdbc.PgConnection", "commit")),
    AFTER_COMMIT(
            "P5",
            "after commit",
            enter("dev.twinbox.outbox.TransactionBuffer$Round", "afterCompletion")
                    .when("$1 == 3"));

    private final String number;
    private final String step;
    private final KillPoint point;

    ProducerStep(String number, String step, KillPoint point) {
        this.number = number;
        this.step = step;
        this.point = point;
    }

    String number() {
        return number;
    }

    String step() {
        return step;
    }

    KillPoint point() {
        return point;
    }
}
