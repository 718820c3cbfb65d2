package dev.twinbox.relay.jdbc;

/** The size of a row as it is counted for a page, in any table that holds events. */
final class RowSize {
    /** What a parked event takes in memory, roughly. */
    static final String OF_PARKED = "coalesce(octet_length(payload), 0) + coalesce(octet_length(key), 0)"
            + " + coalesce(octet_length(array_to_string(headers, '')), 0) + 500";

    /**
     * Floating point, because sums of bigint are numeric and slower; up to 2^53 it is exact. Never null: a row without
     * a required value must still count, or the sum would drop it.
     */
    private static final String SIZE = """
            {overhead}::float8 + coalesce(octet_length(payload), 0) + coalesce(octet_length(key), 0)
            + coalesce(octet_length(topic), 0) + coalesce(octet_length(type), 0) + coalesce(octet_length(source), 0)
            + coalesce(octet_length(subject), 0) + coalesce(octet_length(content_type), 0)
            + coalesce(octet_length(array_to_string(headers, '')), 0)""";

    private RowSize() {}

    /** SQL for the size. */
    static String sql() {
        return SIZE.replace("{overhead}", Integer.toString(OutboxRecord.OVERHEAD));
    }

    /** SQL for a row, without its content if it is too large; {@code number} takes the place of {@code seq}. */
    static String eventUnlessTooLarge(String number, LargestEvent largest) {
        return ("case when {size} > " + largest.countedBytes() + " then " + RecordAssembler.tooLarge(number, largest)
                        + " else " + RecordAssembler.event(number) + " end")
                .replace("{size}", sql());
    }
}
