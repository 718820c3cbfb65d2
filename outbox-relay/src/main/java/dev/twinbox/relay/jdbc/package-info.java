/** All SQL of the relay, one class per table, and what rows are in Java. */
@NullMarked
package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.NullMarked;
