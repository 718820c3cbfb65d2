/** Tables: names, migrations, and checks. */
@NullMarked
package dev.twinbox.schema;

import org.jspecify.annotations.NullMarked;
