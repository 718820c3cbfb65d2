/** Embedded Debezium with its outbox event router, as a process that the relay benchmark measures. */
@NullMarked
package dev.twinbox.proof.bench.debezium;

import org.jspecify.annotations.NullMarked;
