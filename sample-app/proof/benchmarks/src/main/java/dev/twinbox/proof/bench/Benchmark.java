package dev.twinbox.proof.bench;

/** A benchmark that starts all it needs, measures once, and leaves nothing behind. */
interface Benchmark {

    /**
     * Measures; takes minutes.
     *
     * @throws InvalidRunException if what was measured must not be reported
     */
    Report run() throws Exception;
}
