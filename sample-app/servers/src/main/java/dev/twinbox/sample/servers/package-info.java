/** PostgreSQL and Kafka on fixed ports, for a reader of the tutorial who has neither. */
@NullMarked
package dev.twinbox.sample.servers;

import org.jspecify.annotations.NullMarked;
