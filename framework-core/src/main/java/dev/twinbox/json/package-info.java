/** The default wire format: JSON. */
@NullMarked
package dev.twinbox.json;

import org.jspecify.annotations.NullMarked;
