/** What operators ask and order, for the command line and for HTTP alike. */
@NullMarked
package dev.twinbox.relay.operator;

import org.jspecify.annotations.NullMarked;
