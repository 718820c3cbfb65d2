/** What can be set on a receiver, read and checked. */
@NullMarked
package dev.twinbox.inbox.config;

import org.jspecify.annotations.NullMarked;
