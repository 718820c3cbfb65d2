/** Plain JDBC, no container: transactions, SQLSTATEs, quoted names. */
@NullMarked
package dev.twinbox.jdbc;

import org.jspecify.annotations.NullMarked;
