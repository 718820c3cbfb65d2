package dev.twinbox.relay;

import dev.twinbox.console.cli.ParkedOptions;
import dev.twinbox.relay.jdbc.ParkedSelection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Options that choose parked events of the relay. */
final class Selection extends ParkedOptions<ParkedSelection> {

    @Override
    protected ParkedSelection selection(@Nullable List<Long> numbers, Values values) {
        return new ParkedSelection(
                numbers,
                values.topic(),
                values.key(),
                values.type(),
                values.error(),
                values.since().time(),
                values.since().age());
    }
}
