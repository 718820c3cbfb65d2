package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import java.sql.SQLException;

/** Refunds returns. Only the second version has it. */
@Stateless
public class RefundDesk {

    @EJB
    private EffectBook book;

    /** Applies one refund. */
    @InboxHandler
    public void refund(ReturnRefunded refunded, EventContext event) throws SQLException {
        book.enter(event, refunded.key(), refunded.number());
    }
}
