package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventReading;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AliasesTest {

    @Test
    void aFormerNameStandsForTheTypeOnItsTopicOnly() {
        Aliases aliases = Aliases.of(List.of(
                handler("bill", "orders", "order.placed", "OrderCreated", "order.created"),
                handler("ship", "shipments", "shipment.sent")));

        assertThat(aliases.currentName("orders", "OrderCreated")).isEqualTo("order.placed");
        assertThat(aliases.currentName("orders", "order.created")).isEqualTo("order.placed");
        assertThat(aliases.currentName("orders", "order.placed")).isEqualTo("order.placed");
        assertThat(aliases.currentName("shipments", "OrderCreated")).isEqualTo("OrderCreated");
    }

    @Test
    void handlersOfOneTypeMayShareAFormerName() {
        assertThat(Aliases.problems(List.of(
                        handler("bill", "orders", "order.placed", "OrderCreated"),
                        handler("ship", "orders", "order.placed", "OrderCreated"),
                        handler("other", "shipments", "shipment.sent", "OrderCreated"))))
                .isEmpty();
    }

    @Test
    void aFormerNameOfTwoTypesIsRefused() {
        assertThat(Aliases.problems(List.of(
                        handler("bill", "orders", "order.placed", "OrderCreated"),
                        handler("ship", "orders", "order.packed", "OrderCreated"))))
                .containsExactly("alias \"OrderCreated\" of type order.packed on topic orders (handler ship)"
                        + " is also an alias of type order.placed; an alias must lead to one type");
    }

    @Test
    void aFormerNameThatIsInUseIsRefused() {
        assertThat(Aliases.problems(List.of(
                        handler("bill", "orders", "order.placed", "order.packed"),
                        handler("ship", "orders", "order.packed"))))
                .containsExactly("alias \"order.packed\" of type order.placed on topic orders (handler bill)"
                        + " is the name of a type that is handled there; an alias must be a former name");
    }

    /** A handler without method and bean: aliases do not depend on them. */
    private static HandlerMethod handler(String name, String topic, String type, String... aliases) {
        return new HandlerMethod(
                name,
                topic,
                type,
                Set.of(aliases),
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                HandlerOptions.DEFAULT,
                String.class,
                EventReading.STRICT,
                null,
                null,
                String.class);
    }
}
