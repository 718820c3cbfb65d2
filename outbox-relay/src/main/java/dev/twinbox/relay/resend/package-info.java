/** Sends events again that Kafka has had: jobs, asked for by operators and carried out by the owner of the lease. */
@NullMarked
package dev.twinbox.relay.resend;

import org.jspecify.annotations.NullMarked;
