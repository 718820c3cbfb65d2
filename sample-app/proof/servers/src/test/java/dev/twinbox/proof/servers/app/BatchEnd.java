package dev.twinbox.proof.servers.app;

import jakarta.batch.api.BatchProperty;
import jakarta.batch.api.listener.AbstractJobListener;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.inject.Named;

/** Reports the end of the job. */
@Named
@Dependent
public class BatchEnd extends AbstractJobListener {

    @Inject
    @BatchProperty
    private String task;

    @Override
    public void afterJob() {
        BatchJob.ended(task);
    }
}
