/** What the command lines of relay and receiver have in common. */
@NullMarked
package dev.twinbox.console.cli;

import org.jspecify.annotations.NullMarked;
