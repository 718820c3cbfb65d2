/** Compares orders, events on Kafka and shipments while all of them grow. */
@NullMarked
package dev.twinbox.proof.ledger;

import org.jspecify.annotations.NullMarked;
