package dev.twinbox.proof.matrix;

/** The guarantee for the rows of one table of the matrix. */
enum Contract {
    /** The application's transaction: all of it is committed or nothing. */
    WRITE("P", Chance.NEVER, Chance.NEVER, Chance.NEVER),
    /** The relay's default. */
    PUBLISH_AT_LEAST_ONCE("A", Chance.NEVER, Chance.ALWAYS, Chance.NEVER),
    /** The relay with {@code delivery=exactly-once}. */
    PUBLISH_EXACTLY_ONCE("X", Chance.NEVER, Chance.NEVER, Chance.NEVER),
    /** The handlers' default. */
    EXACTLY_ONCE_EFFECT("E", Chance.NEVER, Chance.NEVER, Chance.NEVER),
    /** Handlers without a claim in the inbox. */
    AT_LEAST_ONCE("L", Chance.NEVER, Chance.NEVER, Chance.ALWAYS),
    /** Handlers whose offset is committed before they run. */
    AT_MOST_ONCE("M", Chance.ALWAYS, Chance.NEVER, Chance.NEVER);

    private final String prefix;
    private final Chance lost;
    private final Chance sentTwice;
    private final Chance appliedTwice;

    /** Each value is the worst that the contract allows. */
    Contract(String prefix, Chance lost, Chance sentTwice, Chance appliedTwice) {
        this.prefix = prefix;
        this.lost = lost;
        this.sentTwice = sentTwice;
        this.appliedTwice = appliedTwice;
    }

    /** The first letter of its rows' numbers. */
    String prefix() {
        return prefix;
    }

    static Contract of(String rowNumber) {
        for (Contract contract : values()) {
            if (rowNumber.startsWith(contract.prefix)) {
                return contract;
            }
        }
        throw new IllegalArgumentException("No table has a row \"" + rowNumber + "\"");
    }

    /** Whether the contract allows what the row shows. */
    boolean allows(MatrixRow row) {
        return row.lost().compareTo(lost) <= 0
                && row.sentTwice().compareTo(sentTwice) <= 0
                && row.appliedTwice().compareTo(appliedTwice) <= 0;
    }
}
