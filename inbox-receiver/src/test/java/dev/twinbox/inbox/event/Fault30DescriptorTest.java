package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@code ejb-jar.xml} overrides annotations, so a handler's transaction, roles and calls can be others than its source says. */
class Fault30DescriptorTest {

    @SuppressWarnings("unused")
    static class Owner {
        public void handle(String event) {}
    }

    @Test
    void aTransactionAttributeThatIsNotOursIsAProblem() {
        for (String attribute : List.of("RequiresNew", "NotSupported", "Never")) {
            assertThat(problems(transaction("Owner", "handle", "", attribute)))
                    .singleElement()
                    .asString()
                    .startsWith(Owner.class.getName() + ".handle: ejb-jar.xml gives it the transaction attribute "
                            + attribute)
                    .contains("use Required, Mandatory or Supports there");
        }
        assertThat(problems(transaction("Owner", "*", "", "RequiresNew"))).hasSize(1);
    }

    @Test
    void theMostSpecificDeclarationCounts() {
        String all = transaction("Owner", "*", "", "RequiresNew");
        String text = "<method-params><method-param>java.lang.String</method-param></method-params>";
        String number = "<method-params><method-param>int</method-param></method-params>";

        assertThat(problems(all + transaction("Owner", "handle", "", "Required"))).isEmpty();
        assertThat(problems(transaction("Owner", "handle", "", "Never")
                        + transaction("Owner", "handle", text, "Required")))
                .isEmpty();
        assertThat(problems(transaction("Owner", "handle", number, "Never"))).isEmpty();
        assertThat(problems(transaction("Other", "*", "", "Never"))).isEmpty();
        assertThat(problems(transaction("Owner", "other", "", "Never"))).isEmpty();
    }

    @Test
    void rolesAndExclusionAreAProblem() {
        String method = "<method><ejb-name>Owner</ejb-name><method-name>*</method-name></method>";
        String forRole = "<method-permission><role-name>admin</role-name>" + method + "</method-permission>";
        String unchecked = "<method-permission><unchecked/>" + method + "</method-permission>";

        assertThat(problems(forRole)).singleElement().asString().contains("ejb-jar.xml demands a role for it");
        assertThat(problems("<exclude-list>" + method + "</exclude-list>")).hasSize(1);
        assertThat(problems(unchecked)).isEmpty();
    }

    @Test
    void aBeanThatManagesTransactionsOrIsAsynchronousIsAProblem() {
        assertThat(problemsOfBean("<transaction-type>Bean</transaction-type>"))
                .singleElement()
                .asString()
                .contains("manage transactions itself");
        assertThat(problemsOfBean("<async-method><method-name>handle</method-name></async-method>"))
                .singleElement()
                .asString()
                .contains("makes it asynchronous");
        assertThat(problemsOfBean("<transaction-type>Container</transaction-type>")).isEmpty();
    }

    @Test
    void whatIsNotXmlIsLeftToTheContainer() {
        assertThat(EjbDescriptor.read(new ByteArrayInputStream("none".getBytes(StandardCharsets.UTF_8))))
                .isEmpty();
    }

    private static String transaction(String ejb, String method, String parameters, String attribute) {
        return "<container-transaction><method><ejb-name>" + ejb + "</ejb-name><method-name>" + method
                + "</method-name>" + parameters + "</method><trans-attribute>" + attribute
                + "</trans-attribute></container-transaction>";
    }

    private static List<String> problems(String assembly) {
        return read("<assembly-descriptor>" + assembly + "</assembly-descriptor>");
    }

    private static List<String> problemsOfBean(String settings) {
        return read("<enterprise-beans><session><ejb-name>Owner</ejb-name>" + settings
                + "</session></enterprise-beans>");
    }

    private static List<String> read(String content) {
        String xml = "<ejb-jar xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"4.0\">" + content + "</ejb-jar>";
        try {
            return EjbDescriptor.read(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)))
                    .orElseThrow()
                    .problems("Owner", Owner.class, Owner.class.getMethod("handle", String.class));
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }
}
