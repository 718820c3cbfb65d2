/** Breaks the whole sample for as long as one likes, and compares its books all the while. */
@NullMarked
package dev.twinbox.sample.soak;

import org.jspecify.annotations.NullMarked;
