/** Measures Twinbox beside the plain alternative, on this machine. */
@NullMarked
package dev.twinbox.sample.bench;

import org.jspecify.annotations.NullMarked;
