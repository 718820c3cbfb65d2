/** Handlers that the soak adds to the shipping service. They run in the application server, not in the soak. */
@NullMarked
package dev.twinbox.proof.soak.receiver;

import org.jspecify.annotations.NullMarked;
