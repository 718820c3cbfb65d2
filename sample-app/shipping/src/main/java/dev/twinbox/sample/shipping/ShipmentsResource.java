package dev.twinbox.sample.shipping;

import dev.twinbox.inbox.InboxStatus;
import jakarta.ejb.EJB;
import jakarta.enterprise.context.RequestScoped;
import jakarta.inject.Inject;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;

/** The shipments over HTTP. */
@Path("shipments")
@Produces(MediaType.APPLICATION_JSON)
@RequestScoped
public class ShipmentsResource {

    @EJB
    private ShippingDesk desk;

    @Inject
    private InboxStatus inbox;

    /** How many shipments there are, and how many duplicates the inbox has skipped since this server was started. */
    @GET
    public Shipments shipments() {
        return new Shipments(desk.count(), inbox.duplicates());
    }

    /** What {@code GET} answers. */
    public record Shipments(long shipments, long duplicatesSkipped) {}
}
