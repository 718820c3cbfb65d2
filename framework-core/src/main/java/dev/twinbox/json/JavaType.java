package dev.twinbox.json;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A type without variables.
 *
 * @param arguments its type arguments; of an array the component
 */
record JavaType(Class<?> raw, List<JavaType> arguments) {

    private static final JavaType OBJECT = new JavaType(Object.class, List.of());

    static JavaType of(Class<?> type) {
        return of(type, Map.of());
    }

    /** @param variables what the variables in the type stand for; others are taken for {@code Object} */
    static JavaType of(Type type, Map<TypeVariable<?>, JavaType> variables) {
        if (type instanceof Class<?> plain) {
            return new JavaType(
                    plain, plain.isArray() ? List.of(of(plain.getComponentType(), variables)) : List.of());
        }
        if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
            return new JavaType(
                    raw,
                    Stream.of(generic.getActualTypeArguments())
                            .map(argument -> of(argument, variables))
                            .toList());
        }
        if (type instanceof GenericArrayType array) {
            JavaType component = of(array.getGenericComponentType(), variables);
            return new JavaType(component.raw().arrayType(), List.of(component));
        }
        if (type instanceof WildcardType wildcard) {
            return of(wildcard.getUpperBounds()[0], variables);
        }
        return type instanceof TypeVariable<?> variable ? variables.getOrDefault(variable, OBJECT) : OBJECT;
    }

    /** What the variables of the class and its superclasses stand for. */
    Map<TypeVariable<?>, JavaType> variables() {
        Map<TypeVariable<?>, JavaType> variables = new HashMap<>();
        JavaType type = this;
        while (true) {
            TypeVariable<?>[] declared = type.raw().getTypeParameters();
            if (declared.length == type.arguments().size()) {
                for (int i = 0; i < declared.length; i++) {
                    variables.put(declared[i], type.arguments().get(i));
                }
            }
            Type parent = type.raw().getGenericSuperclass();
            if (parent == null) {
                return variables;
            }
            type = of(parent, variables);
        }
    }
}
