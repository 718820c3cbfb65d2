/** The tables: quoted names, numbered SQL files, the step that applies them, and the check that they are there. */
@NullMarked
package dev.twinbox.schema;

import org.jspecify.annotations.NullMarked;
