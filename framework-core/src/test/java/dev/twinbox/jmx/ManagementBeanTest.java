package dev.twinbox.jmx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

class ManagementBeanTest {

    private static final MBeanServer SERVER = ManagementFactory.getPlatformMBeanServer();

    public interface FigureMXBean {
        int getFigure();
    }

    record Figure(int figure) implements FigureMXBean {
        @Override
        public int getFigure() {
            return figure;
        }
    }

    private static SortedMap<String, String> group(String group) {
        return new TreeMap<>(Map.of("group", group));
    }

    private static Set<String> names() throws Exception {
        return SERVER.queryNames(new ObjectName("dev.twinbox:type=Test,*"), null).stream()
                .map(ObjectName::getCanonicalName)
                .collect(Collectors.toSet());
    }

    @Test
    void aBeanIsShownUntilItIsClosed() throws Exception {
        try (ManagementBean shown = ManagementBean.register("Test", group("a,b=\"*\"?"), new Figure(7))) {
            assertThat(names()).hasSize(1);
            ObjectName name = new ObjectName(names().iterator().next());
            assertThat(ObjectName.unquote(name.getKeyProperty("group"))).isEqualTo("a,b=\"*\"?");
            assertThat(ObjectName.unquote(name.getKeyProperty("application"))).isEqualTo("unknown");
            assertThat(SERVER.getAttribute(name, "Figure")).isEqualTo(7);
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void aSecondBeanOfTheNameHasANumberAndEachEndsForItself() throws Exception {
        ManagementBean first = ManagementBean.register("Test", group("g"), new Figure(1));
        try (ManagementBean second = ManagementBean.register("Test", group("g"), new Figure(2))) {
            assertThat(names()).hasSize(2).anyMatch(name -> name.contains("instance=2"));
            first.close();
            assertThat(names()).hasSize(1).allMatch(name -> name.contains("instance=2"));
        }
        assertThat(names()).isEmpty();
    }

    @Test
    void whatCannotBeShownIsNoError() throws Exception {
        assertThatCode(() -> {
                    try (ManagementBean notShown = ManagementBean.register("Test", group("g"), new Object())) {
                        assertThat(names()).isEmpty();
                    }
                })
                .doesNotThrowAnyException();
    }
}
