package dev.twinbox.relay.jdbc;

/** How a page is kept within its limit of bytes. */
enum ByteLimit {
    /**
     * Withholds a row that is larger than its share of the page (bytes divided by rows), and ends the page before
     * it. This costs almost nothing, but large rows need {@link #BY_SUM}. The {@code order by} before
     * {@code offset 0} shows the planner that it need not sort.
     */
    BY_ROW("""
            select b.*, {size} > ? as withheld, false as too_large, false as more
            from ({branches}) b order by seq offset 0"""),
    /**
     * Ends the page before the row with which the sum of all sizes would exceed the limit. A row that is larger
     * than the limit comes alone. A row that can never be sent comes without its content, so that it does not use up
     * the memory. For rows of 500 bytes this way costs PostgreSQL 50 % more.
     */
    BY_SUM("""
            select c.*, false as withheld, c.bytes > {largest} as too_large from (
              select u.*, sum(bytes) over w as running, lead(seq) over w is not null as more
              from (select b.*, {size} as bytes from ({branches}) b) u
              window w as (order by seq rows unbounded preceding)
            ) c
            where running <= ? or running = bytes
            order by seq offset 0""");

    private final String cut;

    ByteLimit(String cut) {
        this.cut = cut;
    }

    /** With placeholders for the size of a row and for the branches. */
    String sql() {
        return cut;
    }
}
