package dev.twinbox.inbox.event;

import java.lang.annotation.Annotation;
import java.util.List;
import java.util.stream.Stream;

/**
 * Refuses what MicroProfile Fault Tolerance would do within the receiver's transaction. Its annotations are known by
 * name, because not every server has them.
 */
final class FaultTolerance {

    private static final String PACKAGE = "org.eclipse.microprofile.faulttolerance.";

    private FaultTolerance() {}

    /** @param annotations those that hold for the handler */
    static void check(Stream<Annotation> annotations, List<String> breaches) {
        annotations
                .map(annotation -> annotation.annotationType().getName())
                .distinct()
                .forEach(name -> {
                    if (name.equals(PACKAGE + "Retry")) {
                        breaches.add("it has @Retry of MicroProfile Fault Tolerance, which would call it again in the "
                                + "same transaction, so the effect of the failed call would be committed too; remove "
                                + "the annotation: the receiver calls it again in a new transaction");
                    } else if (name.equals(PACKAGE + "Fallback")) {
                        breaches.add("it has @Fallback of MicroProfile Fault Tolerance, which would hide its failure, "
                                + "so the effect of the failed call would be committed; remove the annotation: the "
                                + "receiver rolls the effect back and parks the event");
                    }
                });
    }
}
