package dev.twinbox.lock;

import java.time.Duration;

/**
 * How a row says when a lease ends. The time has whole milliseconds. Its microseconds say two things more: who has given
 * the lease (the last bit), and how long it was at most (twice the exponent of a power of two in milliseconds). So a lease
 * that a wrong clock has put far ahead is known as such. Rows of versions before say 0 or 1, without the length.
 */
final class LeaseEnd {

    /** From now on, and at least as long as the lease: milliseconds, microseconds. */
    static final String SQL = "date_trunc('milliseconds', clock_timestamp())"
            + " + (? + 1) * interval '1 millisecond' + ? * interval '1 microsecond'";

    private static final String MICROS = "extract(microseconds from lease_until)::bigint % 1000";

    /** A lease lasts a day at most. One that seems to last longer than it was given for is of a clock that was wrong. */
    static final String IS_OVER = """
            (lease_until <= clock_timestamp()
                   or lease_until > clock_timestamp() + interval '25 hours'
                   or case ({micros}) / 2 when 0 then false
                      else lease_until > clock_timestamp() + interval '1 minute'
                        + (1::bigint << (({micros}) / 2)::int) * interval '1 millisecond' end)""".replace("{micros}", MICROS);

    /** The store of leases has given it. */
    static final String IS_OF_STORE = "(" + MICROS + ") % 2 = 1";

    private LeaseEnd() {}

    /** The microseconds of {@link #SQL}. */
    static int micros(boolean isOfStore, Duration lease) {
        int exponent = Long.SIZE - Long.numberOfLeadingZeros(lease.toMillis());
        return 2 * exponent + (isOfStore ? 1 : 0);
    }
}
