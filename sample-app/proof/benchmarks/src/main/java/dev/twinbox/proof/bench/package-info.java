/** Benchmarks: compare Twinbox with the simplest solutions that do the same work. */
@NullMarked
package dev.twinbox.proof.bench;

import org.jspecify.annotations.NullMarked;
