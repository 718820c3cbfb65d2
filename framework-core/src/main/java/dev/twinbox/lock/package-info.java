/** Locks by key: grants, fences, leases. */
@NullMarked
package dev.twinbox.lock;

import org.jspecify.annotations.NullMarked;
