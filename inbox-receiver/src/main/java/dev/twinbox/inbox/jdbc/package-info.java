/** The tables of the receiver: all their SQL, and the transactions in which it runs. */
@NullMarked
package dev.twinbox.inbox.jdbc;

import org.jspecify.annotations.NullMarked;
