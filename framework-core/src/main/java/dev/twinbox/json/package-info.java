/** The default wire format: events as JSON by JSON-B. */
@NullMarked
package dev.twinbox.json;

import org.jspecify.annotations.NullMarked;
