/** Debezium embedded with its outbox event router, as a process that the relay benchmark compares with. */
@NullMarked
package dev.twinbox.sample.bench.debezium;

import org.jspecify.annotations.NullMarked;
