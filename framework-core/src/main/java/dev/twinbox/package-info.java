/** The public API: what an application annotates, publishes and receives. */
@NullMarked
package dev.twinbox;

import org.jspecify.annotations.NullMarked;
