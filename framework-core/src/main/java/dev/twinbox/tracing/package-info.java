/** Tracing: OpenTelemetry spans of events. */
@NullMarked
package dev.twinbox.tracing;

import org.jspecify.annotations.NullMarked;
