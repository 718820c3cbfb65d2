package dev.twinbox.proof.soak.receiver;

import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.ejb.EJB;
import jakarta.ejb.Stateless;
import java.sql.SQLException;

/** Takes notices, in both versions. */
@Stateless
public class NoticeDesk {

    @EJB
    private EffectBook book;

    /** Applies one notice. */
    @InboxHandler
    public void note(NoticeGiven notice, EventContext event) throws SQLException {
        book.enter(event, notice.key(), notice.number());
    }
}
