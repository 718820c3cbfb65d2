/** What the receiver benchmark runs inside the server: a Twinbox handler, and a consumer written by hand. */
@NullMarked
package dev.twinbox.sample.bench.receive;

import org.jspecify.annotations.NullMarked;
