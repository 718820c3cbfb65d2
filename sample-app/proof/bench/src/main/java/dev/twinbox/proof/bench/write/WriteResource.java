package dev.twinbox.proof.bench.write;

import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import jakarta.ejb.TransactionAttribute;
import jakarta.ejb.TransactionAttributeType;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

/** Runs business transactions for the benchmark, one after the other, and reports the time of each. */
@Stateless
@TransactionAttribute(TransactionAttributeType.NOT_SUPPORTED)
@Path("write")
public class WriteResource {

    private static final int BUYERS = 1_000;

    @EJB
    private OutboxDesk outbox;

    @EJB
    private HandWrittenDesk handWritten;

    @EJB
    private PlainDesk plain;

    /**
     * Runs the transactions of one client. Clients never share a buyer: they would wait for each other's locks.
     *
     * @param side {@code outbox}, {@code hand-written} or {@code plain}
     * @param client 0 to {@code clients - 1}
     * @return nanoseconds of each transaction, commit included, one per line
     */
    @POST
    @Path("{side}")
    public String run(
            @PathParam("side") String side,
            @QueryParam("transactions") int transactions,
            @QueryParam("client") int client,
            @QueryParam("clients") int clients) {
        LongConsumer transaction = transaction(side);
        long[] nanos = new long[transactions];
        for (int i = 0; i < transactions; i++) {
            long buyer = client + (long) clients * (i % (BUYERS / clients));
            long start = System.nanoTime();
            transaction.accept(buyer);
            nanos[i] = System.nanoTime() - start;
        }
        return Arrays.stream(nanos).mapToObj(Long::toString).collect(Collectors.joining("\n"));
    }

    private LongConsumer transaction(String side) {
        return switch (side) {
            case "outbox" -> outbox::place;
            case "hand-written" -> handWritten::place;
            case "plain" -> plain::place;
            default -> throw new IllegalArgumentException("no side is called " + side);
        };
    }
}
