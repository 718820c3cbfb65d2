package dev.twinbox.proof.bench.write;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.math.BigDecimal;

/** A buyer. */
@Entity
public class Buyer {

    @Id
    private long id;

    private BigDecimal turnover;

    @SuppressWarnings("NullAway.Init") // Hibernate fills it
    protected Buyer() {}

    /** Adds an order to the total of this buyer. */
    StoredOrder order(BigDecimal total, String note) {
        turnover = turnover.add(total);
        return new StoredOrder(id, total, note);
    }
}
