/** The receiver's side for operators: status, parked events and where an event is, over HTTP and for the command line. */
@NullMarked
package dev.twinbox.inbox.console;

import org.jspecify.annotations.NullMarked;
