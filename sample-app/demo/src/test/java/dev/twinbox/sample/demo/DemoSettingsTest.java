package dev.twinbox.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.twinbox.proof.appserver.Product;
import dev.twinbox.sample.demo.DemoSettings.Use;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class DemoSettingsTest {

    @Test
    void withoutPropertiesEachUseHasItsDefaultPort() {
        DemoSettings settings = DemoSettings.from(new Properties());

        assertThat(settings.port(Use.PAGE)).isEqualTo(8400);
        assertThat(settings.ports()).hasSize(Use.values().length);
    }

    @Test
    void aPropertyMovesAPort() {
        assertThat(DemoSettings.from(properties(Map.of("twinbox.demo.kafka.port", "9000")))
                        .port(Use.KAFKA))
                .isEqualTo(9000);
    }

    @Test
    void allMistakesAreNamedAtOnce() {
        Properties mistakes = properties(Map.of(
                "twinbox.demo.page.prot", "1",
                "twinbox.demo.orders.port", "eighty",
                "twinbox.demo.shipping.port", "70000",
                "twinbox.demo.kafka.port", "8404"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> DemoSettings.from(mistakes))
                .withMessageContaining("-Dtwinbox.demo.page.prot: there is no such setting")
                .withMessageContaining("-Dtwinbox.demo.orders.port=eighty is not a port")
                .withMessageContaining("-Dtwinbox.demo.shipping.port=70000 is not a port")
                .withMessageContaining("-Dtwinbox.demo.kafka.port=8404: another part of the demo has this port");
    }

    @Test
    void theServerIsOneOfThoseThatAreTested() {
        assertThat(DemoSettings.from(new Properties()).product()).isNull();
        assertThat(DemoSettings.from(properties(Map.of("server", "glassfish"))).product())
                .isEqualTo(Product.GLASSFISH);
        Properties unknown = properties(Map.of("server", "jetty"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DemoSettings.from(unknown))
                .withMessageContaining("-Dserver=jetty is no server of the sample")
                .withMessageContaining("wildfly, liberty, glassfish, payara7, payara6");
    }

    @Test
    void aPortInUseIsNamedWithThePropertyThatChangesIt() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = String.valueOf(taken.getLocalPort());
            DemoSettings settings = DemoSettings.from(properties(Map.of("twinbox.demo.relay.port", port)));

            assertThatIllegalStateException()
                    .isThrownBy(settings::requireFreePorts)
                    .withMessageContaining(port)
                    .withMessageContaining("-Dtwinbox.demo.relay.port=");
        }
    }

    private static Properties properties(Map<String, String> values) {
        Properties properties = new Properties();
        properties.putAll(values);
        return properties;
    }
}
