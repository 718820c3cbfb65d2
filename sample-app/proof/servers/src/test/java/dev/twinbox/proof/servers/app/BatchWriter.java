package dev.twinbox.proof.servers.app;

import jakarta.batch.api.chunk.AbstractItemWriter;
import jakarta.enterprise.context.Dependent;
import jakarta.inject.Named;
import java.util.List;

/** Does the work in the transaction of the chunk. */
@Named
@Dependent
public class BatchWriter extends AbstractItemWriter {

    @Override
    public void writeItems(List<Object> tasks) {
        tasks.forEach(task -> BatchJob.write((String) task));
    }
}
