package dev.twinbox.proof.bench;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The timed part of a run: from just before the first read, or send if nothing is read, to the last acknowledgement.
 *
 * @param begun when it began, by the machine's clock; null if the program does not say it
 */
record Timed(Duration took, @Nullable Instant begun) {}
