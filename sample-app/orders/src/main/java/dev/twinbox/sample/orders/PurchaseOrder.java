package dev.twinbox.sample.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.SequenceGenerator;
import jakarta.persistence.Table;

/** One order of one customer, numbered per customer from 1 without gaps. */
@Entity
@Table(name = "purchase_order")
public class PurchaseOrder {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "orders")
    @SequenceGenerator(name = "orders", sequenceName = "purchase_order_seq", allocationSize = 50)
    private long id;

    @ManyToOne(fetch = FetchType.LAZY, optional = false)
    @JoinColumn(name = "customer_id")
    private Customer customer;

    private long number;
    private String product;
    private int quantity;

    @SuppressWarnings("NullAway.Init") // the JPA provider fills it
    protected PurchaseOrder() {}

    PurchaseOrder(Customer customer, long number, String product, int quantity) {
        this.customer = customer;
        this.number = number;
        this.product = product;
        this.quantity = quantity;
    }

    /** The event of this order. Call it after the order got its id. */
    OrderPlaced placed() {
        return new OrderPlaced(id, customer.id(), number, product, quantity);
    }
}
