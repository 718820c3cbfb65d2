/** Locks and guarded handlers, timed inside the server. */
@NullMarked
package dev.twinbox.proof.bench.lock;

import org.jspecify.annotations.NullMarked;
