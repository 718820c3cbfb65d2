/** What operators ask and order, on both sides: by the command line and over HTTP alike. */
@NullMarked
package dev.twinbox.console.operator;

import org.jspecify.annotations.NullMarked;
