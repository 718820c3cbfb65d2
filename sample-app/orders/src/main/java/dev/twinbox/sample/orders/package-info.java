/** The producing service of the sample: takes orders and says so in the same transaction. */
@NullMarked
package dev.twinbox.sample.orders;

import org.jspecify.annotations.NullMarked;
