/** Breaks the whole sample for as long as one likes, and compares its books all the while. */
@NullMarked
package dev.twinbox.proof.soak;

import org.jspecify.annotations.NullMarked;
