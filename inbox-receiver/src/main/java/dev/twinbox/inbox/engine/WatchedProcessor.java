package dev.twinbox.inbox.engine;

/** Has the time noted that a batch takes outside of its handlers. */
record WatchedProcessor(Processor processor, WorkerWaits waits) implements Processor {

    @Override
    public Outcome process(Batch batch) {
        waits.begin(batch);
        try {
            return processor.process(batch);
        } finally {
            waits.end();
        }
    }

    @Override
    public Outcome settleHung(Batch batch, HandlerTimeoutException cause) {
        return processor.settleHung(batch, cause);
    }
}
