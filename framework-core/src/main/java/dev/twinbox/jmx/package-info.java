/** Shows the state of the outbox and of the inbox to JMX. */
@NullMarked
package dev.twinbox.jmx;

import org.jspecify.annotations.NullMarked;
