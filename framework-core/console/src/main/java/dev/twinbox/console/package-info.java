/** What relay and receiver serve to operators over HTTP. */
@NullMarked
package dev.twinbox.console;

import org.jspecify.annotations.NullMarked;
