/** Debezium embedded with its outbox event router, as a process that the relay benchmark compares with. */
@NullMarked
package dev.twinbox.proof.bench.debezium;

import org.jspecify.annotations.NullMarked;
