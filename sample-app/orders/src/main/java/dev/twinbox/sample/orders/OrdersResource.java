package dev.twinbox.sample.orders;

import jakarta.ejb.EJB;
import jakarta.enterprise.context.RequestScoped;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.DefaultValue;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** The orders over HTTP. Each order has a transaction of its own. */
@Path("orders")
@Produces(MediaType.APPLICATION_JSON)
@RequestScoped
public class OrdersResource {

    private static final int CUSTOMERS = 1000;
    private static final int MOST_ORDERS = 10_000;
    private static final List<String> PRODUCTS = List.of("kettle", "lamp", "notebook", "teapot", "umbrella");

    @EJB
    private OrderDesk desk;

    @EJB
    private Checkout checkout;

    /** How many orders are committed. */
    @GET
    public OrderCount count() {
        return new OrderCount(desk.count());
    }

    /**
     * Places orders, one after the other.
     *
     * @param count how many, 1 to 10,000
     * @param customer the customer, 1 to 1,000; if missing, one customer after the other, from a random one
     * @return how many were placed; 400 with the reason if a parameter is out of bounds: then none is placed
     */
    @POST
    public OrderCount place(
            @QueryParam("count") @DefaultValue("1") String count, @QueryParam("customer") @Nullable String customer) {
        // As text: if the value were an int, Jakarta REST would answer a wrong number with 404.
        return place(
                number("count", count, MOST_ORDERS), customer == null ? null : number("customer", customer, CUSTOMERS));
    }

    private OrderCount place(int count, @Nullable Integer customerId) {
        long first = ThreadLocalRandom.current().nextLong(CUSTOMERS);
        for (int i = 0; i < count; i++) {
            long customer = customerId != null ? customerId : 1 + (first + i) % CUSTOMERS;
            desk.place(customer, PRODUCTS.get(i % PRODUCTS.size()), 1 + i % 3);
        }
        return new OrderCount(count);
    }

    private static int number(String name, String value, int most) {
        try {
            int number = Integer.parseInt(value);
            if (number >= 1 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The answer below is clearer.
        }
        throw new BadRequestException(Response.status(Response.Status.BAD_REQUEST)
                .type(MediaType.APPLICATION_JSON)
                .entity(new Problem(name + " = \"" + value + "\" is not a whole number from 1 to " + most))
                .build());
    }

    /** Places one order whose payment is declined. Answers 402; order and event are rolled back. */
    @POST
    @Path("declined")
    public Response placeDeclined() {
        long customer = 1 + ThreadLocalRandom.current().nextLong(CUSTOMERS);
        try {
            checkout.buyWithDeclinedCard(customer, PRODUCTS.get(0), 1);
            throw new IllegalStateException("the payment should have been declined");
        } catch (PaymentDeclinedException declined) {
            return Response.status(Response.Status.PAYMENT_REQUIRED)
                    .entity(new Refusal(declined.orderId(), "payment declined"))
                    .build();
        }
    }

    /** A number of orders. */
    public record OrderCount(long orders) {}

    /** What is wrong with a request. */
    public record Problem(String reason) {}

    /** Which order was rolled back, and why. */
    public record Refusal(long orderId, String reason) {}
}
