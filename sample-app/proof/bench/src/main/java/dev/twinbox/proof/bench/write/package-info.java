/** What the write benchmark runs inside the server: one business transaction, with and without an outbox. */
@NullMarked
package dev.twinbox.proof.bench.write;

import org.jspecify.annotations.NullMarked;
