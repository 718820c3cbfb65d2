/** Jakarta EE servers, each set up with the files that the documentation shows. */
@NullMarked
package dev.twinbox.proof.appserver;

import org.jspecify.annotations.NullMarked;
