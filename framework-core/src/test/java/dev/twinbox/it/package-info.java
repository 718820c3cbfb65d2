/** Writing inside a real server: the test application, and the tests that are deployed with it. */
package dev.twinbox.it;
