/** Breaks the sample for a long time and compares orders, events and shipments meanwhile. */
@NullMarked
package dev.twinbox.proof.soak;

import org.jspecify.annotations.NullMarked;
