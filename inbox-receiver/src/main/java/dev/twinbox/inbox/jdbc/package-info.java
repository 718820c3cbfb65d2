/** The tables of the receiver: all SQL, and the transactions that it runs in. */
@NullMarked
package dev.twinbox.inbox.jdbc;

import org.jspecify.annotations.NullMarked;
