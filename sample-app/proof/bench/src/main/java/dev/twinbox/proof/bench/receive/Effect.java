package dev.twinbox.proof.bench.receive;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import java.math.BigDecimal;

/** The effect of one event in the database: one row. */
@Entity
@SuppressWarnings("UnusedVariable") // Hibernate reads the fields
public class Effect {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private long id;

    private long orderId;
    private long customerId;
    private BigDecimal total;

    @SuppressWarnings("NullAway.Init") // Hibernate fills it
    protected Effect() {}

    Effect(OrderPlaced order) {
        this.orderId = order.orderId();
        this.customerId = order.customerId();
        this.total = order.total();
    }
}
