/** Spans of OpenTelemetry around what is done with events, where the server has it. */
@NullMarked
package dev.twinbox.tracing;

import org.jspecify.annotations.NullMarked;
