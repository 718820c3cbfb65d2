/** The producing service of the sample: stores an order and publishes its event in one transaction. */
@NullMarked
package dev.twinbox.sample.orders;

import org.jspecify.annotations.NullMarked;
