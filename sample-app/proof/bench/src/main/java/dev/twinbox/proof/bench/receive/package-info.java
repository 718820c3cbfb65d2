/** What the receiver benchmarks run inside the server: Twinbox handlers, and a consumer written by hand. */
@NullMarked
package dev.twinbox.proof.bench.receive;

import org.jspecify.annotations.NullMarked;
