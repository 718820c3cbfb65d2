package dev.twinbox.inbox.event;

import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.BeanManager;
import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** The annotations that hold for a method of a bean. */
final class BeanAnnotations {

    private BeanAnnotations() {}

    /**
     * The annotations of the method, then of the class, then those that come with their stereotypes and interceptor
     * bindings. Both may have others in turn (CDI 4.0, sections 2.8.1.5 and 9.1.1).
     */
    static Stream<Annotation> of(AnnotatedType<?> type, AnnotatedMethod<?> method, BeanManager beans) {
        List<Annotation> all = new ArrayList<>(method.getAnnotations());
        all.addAll(type.getAnnotations());
        for (int i = 0; i < all.size(); i++) {
            for (Annotation further : definition(all.get(i).annotationType(), beans)) {
                if (!all.contains(further)) {
                    all.add(further);
                }
            }
        }
        return all.stream();
    }

    private static Set<Annotation> definition(Class<? extends Annotation> annotation, BeanManager beans) {
        if (beans.isStereotype(annotation)) {
            return beans.getStereotypeDefinition(annotation);
        }
        return beans.isInterceptorBinding(annotation) ? beans.getInterceptorBindingDefinition(annotation) : Set.of();
    }
}
