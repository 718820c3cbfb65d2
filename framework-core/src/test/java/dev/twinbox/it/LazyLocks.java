package dev.twinbox.it;

import dev.twinbox.KeyLocks;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;

/** Gets locks when it needs them, which is never. */
@Dependent
class LazyLocks {

    @Inject
    Instance<KeyLocks> locks;
}
