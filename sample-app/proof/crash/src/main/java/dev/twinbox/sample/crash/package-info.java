/** What the crash matrix kills: a receiver with one handler for each delivery contract. */
@NullMarked
package dev.twinbox.sample.crash;

import org.jspecify.annotations.NullMarked;
