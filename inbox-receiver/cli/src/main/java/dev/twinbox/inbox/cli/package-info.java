/** The command line of the receiver: creates its tables, and looks after parked and handled events. */
@NullMarked
package dev.twinbox.inbox.cli;

import org.jspecify.annotations.NullMarked;
