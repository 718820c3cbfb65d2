package dev.twinbox.jdbc;

/** What a failure of the database is about. It decides who has to change before an attempt can succeed. */
public enum FailureSubject {
    /** The values. Other values would have been taken. */
    EVENT,
    /** The connection, or the server at its other end. Another connection may work. */
    CONNECTION,
    /** The moment. The same attempt may succeed later. */
    MOMENT,
    /** The configuration of the database: a login, a schema, a table, a column or a privilege. An operator has to act. */
    CONFIGURATION,
    /** No rule names it. Who made the attempt has to judge. */
    UNKNOWN
}
