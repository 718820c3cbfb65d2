package dev.twinbox.sample.shipping;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;

/** One parcel, shipped because of one event. */
@Entity
@SuppressWarnings("UnusedVariable") // written once; Hibernate reads the fields
public class Shipment {

    @Id
    @GeneratedValue(strategy = GenerationType.SEQUENCE)
    private long id;

    private String eventId;
    private long orderId;
    private long customerId;
    private long orderNumber;

    @SuppressWarnings("NullAway.Init") // Hibernate fills it
    protected Shipment() {}

    Shipment(String eventId, OrderPlaced order) {
        this.eventId = eventId;
        this.orderId = order.orderId();
        this.customerId = order.customerId();
        this.orderNumber = order.number();
    }
}
