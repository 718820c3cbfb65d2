package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import jakarta.annotation.security.DenyAll;
import jakarta.annotation.security.PermitAll;
import jakarta.annotation.security.RolesAllowed;
import jakarta.annotation.security.RunAs;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A handler whose session bean demands a role was deployed, and each of its events was dead: the receiver has no caller. */
class Fault28RolesTest {

    @RolesAllowed("admin")
    static class ForRoles {
        public void onClass() {}

        @PermitAll
        public void permitted() {}
    }

    @DenyAll
    static class ForNobody {
        public void onClass() {}
    }

    @RunAs("shipping")
    static class Open {
        public void open() {}

        @RolesAllowed("admin")
        public void onMethod() {}

        @DenyAll
        public void denied() {}
    }

    /** What it inherits keeps the rule of the class that declares it. */
    @DenyAll
    static class Inheriting extends Open {}

    @Test
    void aDemandedRoleIsRefusedWithTheRemedy() {
        assertThat(breaches(ForRoles.class, "onClass"))
                .singleElement()
                .asString()
                .startsWith("its class ForRoles has @RolesAllowed")
                .contains("put @PermitAll on the method, and @RunAs on the class");
        assertThat(breaches(ForNobody.class, "onClass")).singleElement().asString().contains("@DenyAll");
        assertThat(breaches(Open.class, "onMethod")).singleElement().asString().startsWith("it has @RolesAllowed");
        assertThat(breaches(Open.class, "denied")).singleElement().asString().startsWith("it has @DenyAll");
    }

    @Test
    void whoeverMayCallIsNotRefused() {
        assertThat(breaches(ForRoles.class, "permitted")).isEmpty();
        assertThat(breaches(Open.class, "open")).isEmpty();
        assertThat(breaches(Inheriting.class, "open")).isEmpty();
    }

    private static List<String> breaches(Class<?> owner, String name) {
        Method method = Stream.of(owner.getMethods())
                .filter(candidate -> candidate.getName().equals(name))
                .findFirst()
                .orElseThrow();
        List<String> breaches = new ArrayList<>();
        RoleRules.check(method, breaches);
        return breaches;
    }
}
