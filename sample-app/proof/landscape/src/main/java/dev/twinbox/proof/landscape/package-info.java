/** Starts the servers, relays and applications that demo, soak, benchmarks and tests run as processes. */
@NullMarked
package dev.twinbox.proof.landscape;

import org.jspecify.annotations.NullMarked;
