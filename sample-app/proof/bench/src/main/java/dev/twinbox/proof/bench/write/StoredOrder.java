package dev.twinbox.proof.bench.write;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import java.math.BigDecimal;

/** An order. */
@Entity
public class StoredOrder {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private long id;

    private long buyerId;
    private BigDecimal total;
    private String note;

    @SuppressWarnings("NullAway.Init") // Hibernate fills it
    protected StoredOrder() {}

    StoredOrder(long buyerId, BigDecimal total, String note) {
        this.buyerId = buyerId;
        this.total = total;
        this.note = note;
    }

    OrderStored stored() {
        return new OrderStored(id, buyerId, total, note);
    }
}
