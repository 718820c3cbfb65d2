package dev.twinbox.sample.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** Who orders. Its row is locked while an order is placed, so a customer's orders have one sequence and so have their events. */
@Entity
public class Customer {

    @Id
    private long id;

    private long orderCount;

    protected Customer() {}

    /** Starts this customer's next order. */
    PurchaseOrder order(String product, int quantity) {
        orderCount++;
        return new PurchaseOrder(this, orderCount, product, quantity);
    }

    long id() {
        return id;
    }
}
