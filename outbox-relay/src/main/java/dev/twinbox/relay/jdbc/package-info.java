/** All SQL of the relay, one class per table, and the values that its rows become in Java. */
@NullMarked
package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.NullMarked;
