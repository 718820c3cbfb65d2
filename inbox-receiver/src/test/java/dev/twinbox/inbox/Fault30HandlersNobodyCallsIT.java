package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.wrong.UnseenHandlerClasses;
import dev.twinbox.inbox.wrong.UnseenHandlerClasses.Described;
import dev.twinbox.inbox.wrong.UnseenHandlerClasses.SwitchedOff;
import dev.twinbox.inbox.wrong.UnseenHandlerClasses.WithoutScope;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Handlers in a class without a scope and in an EAR without a WAR were deployed, and nothing was received. A transaction
 * attribute in {@code ejb-jar.xml} was not seen, and the effect came twice.
 */
@Tag("proof")
class Fault30HandlersNobodyCallsIT {

    private static final String CANNOT_WORK = "The inbox cannot work in this application";

    private static Database database;

    @BeforeAll
    static void createTables() {
        database = new Database("nobody_calls");
    }

    @Test
    void aHandlerInAClassWithoutAScopeIsRefusedAndOneThatIsVetoedIsNot() {
        String log = deploy(app("without-scope").with(WithoutScope.class, SwitchedOff.class));

        assertThat(log)
                .contains(CANNOT_WORK + ": 1 problem")
                .contains(WithoutScope.class.getName()
                        + ".handle(Known): the class is neither a CDI bean nor a session bean")
                .contains("give it a scope such as @ApplicationScoped");
        assertThat(Servers.payara().status("/without-scope/status")).isEqualTo(404);
    }

    @Test
    void aTransactionOfItsOwnInTheDescriptorIsRefused() {
        String log = deploy(app("described").with(Described.class).withEjbJarXml("""
                <ejb-jar xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0">
                  <assembly-descriptor>
                    <container-transaction>
                      <method><ejb-name>Described</ejb-name><method-name>*</method-name></method>
                      <trans-attribute>RequiresNew</trans-attribute>
                    </container-transaction>
                  </assembly-descriptor>
                </ejb-jar>
                """));

        assertThat(log)
                .contains(CANNOT_WORK)
                .contains(Described.class.getName()
                        + ".handle: ejb-jar.xml gives it the transaction attribute RequiresNew");
        assertThat(Servers.payara().status("/described/status")).isEqualTo(404);
    }

    /** The receiver itself would refuse it, too. Payara Micro does not get that far. */
    @Test
    void anEarWithoutAWebApplicationIsRefused() {
        String name = "without-war";
        String log =
                Servers.payara().deploy(name, app(name).with(Described.class).buildEarWithoutWar());

        assertThat(log).contains("without-war.ear was not recognized");
    }

    private static TestApp app(String name) {
        return new TestApp(name, database.name()).with(UnseenHandlerClasses.class);
    }

    private static String deploy(TestApp app) {
        return Servers.payara().deploy(app.name(), app.build());
    }
}
