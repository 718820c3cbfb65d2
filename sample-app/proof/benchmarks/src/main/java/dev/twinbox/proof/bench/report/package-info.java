/** What a benchmark shows: figures, tables, pictures, progress. */
@NullMarked
package dev.twinbox.proof.bench.report;

import org.jspecify.annotations.NullMarked;
