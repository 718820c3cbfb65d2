package dev.twinbox.sample.orders;

import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;

/** Sells: an order together with its payment, both or neither. */
@Stateless
public class Checkout {

    @EJB
    private OrderDesk desk;

    /**
     * Places an order whose payment is then declined. The order was written and its event published, yet neither is ever
     * seen: the exception rolls back the one transaction that holds both.
     */
    public void buyWithDeclinedCard(long customerId, String product, int quantity) {
        OrderPlaced order = desk.place(customerId, product, quantity);
        throw new PaymentDeclinedException(order.orderId());
    }
}
