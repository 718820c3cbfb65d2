package dev.twinbox.jdbc;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Name of a table, sequence or index in PostgreSQL. Names are quoted here and nowhere else.
 *
 * <p>Names are taken literally: case, blanks and quotes count. Each has 1 to 63 bytes of UTF-8 and no
 * U+0000. PostgreSQL silently cuts longer ones ({@code NAMEDATALEN - 1}).
 *
 * @param schema null: unqualified, found by the connection's {@code search_path}
 * @param name the name itself, unquoted
 */
public record SqlIdentifier(@Nullable String schema, String name) {

    private static final int MAX_BYTES = 63;
    private static final String OF_EVENTS = "_event";

    /** @throws IllegalArgumentException if PostgreSQL could not take a part as it is; the message says why */
    public SqlIdentifier {
        if (schema != null) {
            check("schema", schema);
        }
        check("name", name);
    }

    /** The part quoted for use in SQL. */
    public static String quote(String part) {
        return '"' + part.replace("\"", "\"\"") + '"';
    }

    /** For SQL: quoted, and qualified by the schema if there is one. */
    public String sql() {
        return schema == null ? quote(name) : quote(schema) + '.' + quote(name);
    }

    /** For SQL that does not allow the schema, such as {@code create index}. */
    public String unqualifiedSql() {
        return quote(name);
    }

    /** {@link #sql()} as a string literal, for {@code regclass} in SQL. */
    public String sqlLiteral() {
        String text = sql();
        String escaped = text.replace("'", "''");
        // A backslash is an escape if standard_conforming_strings is off. The E form always means the same.
        return text.indexOf('\\') < 0 ? "'" + escaped + "'" : "E'" + escaped.replace("\\", "\\\\") + "'";
    }

    /**
     * A name in the same schema.
     *
     * @throws IllegalArgumentException if it is too long
     */
    public SqlIdentifier withSuffix(String suffix) {
        return new SqlIdentifier(schema, name + suffix);
    }

    /**
     * The name of a table that belongs to this table of events: {@code outbox_parked} for {@code outbox_event} and
     * {@code _parked}. A name that ends with {@code _event} loses that first.
     *
     * @throws IllegalArgumentException if it is too long
     */
    public SqlIdentifier sibling(String suffix) {
        String stem = name.endsWith(OF_EVENTS) ? name.substring(0, name.length() - OF_EVENTS.length()) : name;
        return new SqlIdentifier(schema, stem + suffix);
    }

    /** {@link #sql()}, so that names in messages and statements are quoted. */
    @Override
    public String toString() {
        return sql();
    }

    /**
     * Checks a part alone.
     *
     * @param part what it is, for the message: {@code schema}, for example
     * @throws IllegalArgumentException if PostgreSQL could not take it as it is; the message says why
     */
    public static void check(String part, String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(part + " is empty: a PostgreSQL identifier has 1 to 63 bytes");
        }
        if (value.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    part + " contains U+0000, which no PostgreSQL identifier may: remove it");
        }
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(value)) {
            throw new IllegalArgumentException(
                    part + " contains a lone surrogate, which UTF-8 cannot express: remove it");
        }
        int bytes = value.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_BYTES) {
            throw new IllegalArgumentException(part + " " + quote(value) + " has " + bytes
                    + " bytes of UTF-8: PostgreSQL cuts identifiers after " + MAX_BYTES + ", choose a shorter one");
        }
    }
}
