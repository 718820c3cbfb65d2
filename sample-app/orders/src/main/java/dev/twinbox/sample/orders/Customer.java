package dev.twinbox.sample.orders;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/**
 * A customer. Its row is locked while an order is placed, so that the orders of a customer, and their events, have one
 * sequence.
 */
@Entity
public class Customer {

    @Id
    private long id;

    @Column(name = "order_count")
    private long orderCount;

    protected Customer() {}

    /** Creates this customer's next order. */
    PurchaseOrder order(String product, int quantity) {
        orderCount++;
        return new PurchaseOrder(this, orderCount, product, quantity);
    }

    long id() {
        return id;
    }
}
