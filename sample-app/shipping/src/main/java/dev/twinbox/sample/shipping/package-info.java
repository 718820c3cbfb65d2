/** The receiving service of the sample: ships each order once, however often its event arrives. */
@NullMarked
package dev.twinbox.sample.shipping;

import org.jspecify.annotations.NullMarked;
