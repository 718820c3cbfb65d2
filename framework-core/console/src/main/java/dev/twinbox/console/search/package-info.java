/** Looks for events on topics, within limits. */
@NullMarked
package dev.twinbox.console.search;

import org.jspecify.annotations.NullMarked;
