/** Benchmarks: measure Twinbox beside the simplest thing that could do its work. */
@NullMarked
package dev.twinbox.proof.bench;

import org.jspecify.annotations.NullMarked;
