/**
 * Carries out jobs that handle events of a topic again.
 *
 * <p>{@link dev.twinbox.inbox.replay.ReplayLoop} takes a job. {@code ReplayRun} carries it out: {@code ReplayLease} keeps
 * it, {@code ReplaySource} reads the topic, and {@link dev.twinbox.inbox.replay.EventHandling} calls the handler.
 */
@NullMarked
package dev.twinbox.inbox.replay;

import org.jspecify.annotations.NullMarked;
