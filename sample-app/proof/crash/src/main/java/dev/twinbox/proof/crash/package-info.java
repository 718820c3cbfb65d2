/** The application that the crash matrix kills: a receiver with one handler for each delivery contract. */
@NullMarked
package dev.twinbox.proof.crash;

import org.jspecify.annotations.NullMarked;
