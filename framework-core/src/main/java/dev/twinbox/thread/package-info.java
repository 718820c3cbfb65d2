/** Runs the loops and the tasks of relay and receiver on threads. No loop ends in silence. */
@NullMarked
package dev.twinbox.thread;

import org.jspecify.annotations.NullMarked;
