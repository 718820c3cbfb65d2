package dev.twinbox.proof.servers.app;

import jakarta.batch.api.BatchProperty;
import jakarta.batch.api.chunk.AbstractItemReader;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Inject;
import jakarta.inject.Named;
import org.jspecify.annotations.Nullable;

/** Reads one item, the task's id. */
@Named
@Dependent
public class BatchReader extends AbstractItemReader {

    @Inject
    @BatchProperty
    private String task;

    private boolean isRead;

    @Override
    public @Nullable Object readItem() {
        if (isRead) {
            return null;
        }
        isRead = true;
        return task;
    }
}
