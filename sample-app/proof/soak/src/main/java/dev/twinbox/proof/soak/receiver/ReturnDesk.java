package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import java.sql.SQLException;

/** Takes returns, in both versions. */
@Stateless
public class ReturnDesk {

    @EJB
    private EffectBook book;

    /** Applies one return. */
    @InboxHandler
    public void take(ReturnAsked asked, EventContext event) throws SQLException {
        book.enter(event, asked.key(), asked.number());
    }
}
