/** The keys of the relay with their values, and its exit codes. */
@NullMarked
package dev.twinbox.relay.config;

import org.jspecify.annotations.NullMarked;
