package dev.twinbox.sample.orders;

import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;

/** Sells: order and payment in one transaction. */
@Stateless
public class Checkout {

    @EJB
    private OrderDesk desk;

    /**
     * Places an order, then the payment is declined. The order is written and its event published, but the exception
     * rolls back the transaction that holds both.
     */
    public void buyWithDeclinedCard(long customerId, String product, int quantity) {
        OrderPlaced order = desk.place(customerId, product, quantity);
        throw new PaymentDeclinedException(order.orderId());
    }
}
