/** The receiving service of the sample: ships each order once, however often it hears of it. */
@NullMarked
package dev.twinbox.sample.shipping;

import org.jspecify.annotations.NullMarked;
