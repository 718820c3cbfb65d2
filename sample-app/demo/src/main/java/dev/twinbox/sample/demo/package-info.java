/** Starts the whole sample on this machine and shows it on one web page. */
@NullMarked
package dev.twinbox.sample.demo;

import org.jspecify.annotations.NullMarked;
