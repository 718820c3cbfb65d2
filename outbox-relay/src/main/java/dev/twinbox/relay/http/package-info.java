/** Health and metrics of the relay over HTTP. */
@NullMarked
package dev.twinbox.relay.http;

import org.jspecify.annotations.NullMarked;
