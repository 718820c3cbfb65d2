package dev.twinbox.sample.shipping;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.SequenceGenerator;

/** One parcel, shipped because of one event. */
@Entity
@SuppressWarnings("UnusedVariable") // written once; the JPA provider reads the fields
public class Shipment {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "shipments")
    @SequenceGenerator(name = "shipments", sequenceName = "shipment_seq", allocationSize = 50)
    private long id;

    @Column(name = "event_id")
    private String eventId;

    @Column(name = "order_id")
    private long orderId;

    @Column(name = "customer_id")
    private long customerId;

    @Column(name = "order_number")
    private long orderNumber;

    @SuppressWarnings("NullAway.Init") // the JPA provider fills it
    protected Shipment() {}

    Shipment(String eventId, OrderPlaced order) {
        this.eventId = eventId;
        this.orderId = order.orderId();
        this.customerId = order.customerId();
        this.orderNumber = order.number();
    }
}
