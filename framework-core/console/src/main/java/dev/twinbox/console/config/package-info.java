/** The configuration of a process that serves operators. */
@NullMarked
package dev.twinbox.console.config;

import org.jspecify.annotations.NullMarked;
