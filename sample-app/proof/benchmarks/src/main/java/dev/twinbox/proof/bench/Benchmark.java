package dev.twinbox.proof.bench;

import dev.twinbox.proof.bench.report.Report;

/** A benchmark. It starts what it needs, measures once, and leaves nothing running. */
interface Benchmark {

    /**
     * Measures. This takes minutes.
     *
     * @throws InvalidRunException if the figures must not be reported
     */
    Report run() throws Exception;
}
