/** The log of what operators have changed, on both sides. */
@NullMarked
package dev.twinbox.console.actions;

import org.jspecify.annotations.NullMarked;
