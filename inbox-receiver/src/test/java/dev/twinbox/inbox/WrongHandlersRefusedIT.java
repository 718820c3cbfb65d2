package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.wrong.WrongHandlers;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * One deployment with every mistake. Each is reported by class, method and rule, and the application is not deployed.
 */
class WrongHandlersRefusedIT {

    private static String log;

    @BeforeAll
    static void deploy() throws Exception {
        TestApp app = new TestApp("wrong", new Database("wrong").name())
                .with(WrongHandlers.class)
                .with(WrongHandlers.class.getDeclaredClasses())
                .with("twinbox.inbox.batch.size", "none");
        log = Servers.payara().deploy("wrong", app.build());
    }

    @Test
    void theApplicationIsNotDeployed() {
        assertThat(Servers.payara().status("/wrong/status")).isEqualTo(404);
    }

    @Test
    void everyProblemIsCounted() {
        assertThat(log).contains("The inbox cannot work in this application: 46 problems");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Shapes.none()|its parameters are (), legal are (E), (E, EventContext) and (List<E>)",
                "Shapes.three(Known, EventContext, String)|its parameters are (Known, EventContext, String)",
                "Shapes.swapped(EventContext, Known)|its parameters are (EventContext, Known)",
                "Shapes.rawList(List)|its parameters are (List)",
                "Shapes.generic(java.util.Map<java.lang.String, java.lang.String>)|its parameters are",
                "Shapes.primitive(int)|its parameters are (int)",
                "Shapes.result(Known)|it returns String, which would be lost",
                "Shapes.hidden(Known)|it is not public",
                "Shapes.fixed(Known)|it is static",
                "Shapes.unknown(Unknown)|its topic is not known; "
                        + "set @InboxHandler(topic = ...), or topic on @EventType of Unknown",
                "Shapes.unknown(Unknown)|the type of its events is not known; "
                        + "set @InboxHandler(type = ...), or put @EventType on Unknown",
                "Shapes.illegalTopic(Known)|\"no topic!\" cannot be a Kafka topic",
                "Transactions.requiresNew(Known)|"
                        + "@Transactional(REQUIRES_NEW) would run it outside the receiver's transaction",
                "Transactions.never(Known)|@Transactional(NEVER) would run it outside the receiver's transaction",
                "TransactionOfClass.notSupported(Known)|@Transactional(NOT_SUPPORTED) would run it outside",
                "TransactionOfBinding.handle(Known)|@Transactional(REQUIRES_NEW) would run it outside",
                "TransactionOfStereotype.handle(Known)|@Transactional(REQUIRES_NEW) would run it outside",
                "Ejb.requiresNew(Known)|@TransactionAttribute(REQUIRES_NEW) would run it outside",
                "Ejb.notSupported(Known)|@TransactionAttribute(NOT_SUPPORTED) would run it outside",
                "Ejb.later(Known)|it is asynchronous (@jakarta.ejb.Asynchronous)",
                "Aliases.three(byte[])|one of its aliases is blank",
                "Guards.ofList(java.util.List<dev.twinbox.inbox.wrong.WrongHandlers$Known>)|"
                        + "it gets a list of events, so it cannot have a lock for each of them",
                "Guards.atMostOnce(Known)|it is called at most once for an event, so there is nothing to guard",
                "RetryRules.nothingIsRetried(Known)|"
                        + "it is called at most once for an event, so nothing is ever retried",
                "RetryRules.nothingIsLate(Known)|it declares RetryLaterException, but is called at most once",
                "RetryRules.neverAndLater(Known)|its notRetried names RetryLaterException, which asks for another try",
                "RetryRules.nothingIsParked(Known)|it is called at most once for an event, so no event can be parked",
                "RetryRules.pausedAndNever(Known)|its notRetried and its breakOn both name IllegalStateException",
                "BeanManaged.handle(Known)|its class manages transactions itself",
                "OfOneClient.handle(Known)|its class is a @Stateful bean",
                "OfOneRequest.handle(Known)|its bean is @RequestScoped",
                "OutsideOfItsView.handle(Known)|it is in none of the session bean's local views",
                "Annotated.handle(Known)|annotations of an interface's methods are not inherited",
            })
    void aMistakeIsNamedWithClassMethodAndRule(String method, String rule) {
        String prefix = "  - " + WrongHandlers.class.getName() + "$" + method + ": " + rule;

        assertThat(log.lines()).anySatisfy(line -> assertThat(line).startsWith(prefix));
    }

    /** Each event of a class that JSON-B cannot create was dead (27), and one that it cannot fill was empty (25). */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Unreadable.hidden(Hidden)|Hidden is not public, so JSON-B cannot create one: make it public",
                "Unreadable.accessors(|Accessors has no setter, so JSON-B would never set it: add a public setter",
            })
    void fault27AnEventClassThatJsonBCannotReadIsRefused(String method, String rule) {
        String prefix = "  - " + WrongHandlers.class.getName() + "$" + method;

        assertThat(log.lines())
                .anySatisfy(line -> assertThat(line).startsWith(prefix).contains(rule));
    }

    /** The receiver has no caller, so a session bean that demands a role refused each event. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ForRoles|its class ForRoles has @RolesAllowed",
                "ForNobody|its class ForNobody has @DenyAll",
                "MethodForRoles|it has @RolesAllowed",
            })
    void fault28ASessionBeanThatDemandsARoleIsRefused(String bean, String rule) {
        String prefix = "  - " + WrongHandlers.class.getName() + "$" + bean + ".handle(Known): " + rule;

        assertThat(log.lines())
                .anySatisfy(
                        line -> assertThat(line).startsWith(prefix).contains("put @PermitAll on the method", "@RunAs"));
    }

    /** It repeated a handler within one transaction, so its effect was committed twice. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RetryOfMethod|@Retry of MicroProfile Fault Tolerance, which would call it again",
                "RetryOfClass|@Retry of MicroProfile Fault Tolerance, which would call it again",
                "RetryOfStereotype|@Retry of MicroProfile Fault Tolerance, which would call it again",
                "WithFallback|@Fallback of MicroProfile Fault Tolerance, which would hide its failure",
            })
    void fault70ARepetitionWithinTheTransactionIsRefused(String bean, String rule) {
        String prefix = "  - " + WrongHandlers.class.getName() + "$" + bean + ".handle(Known): it has " + rule;

        assertThat(log.lines())
                .anySatisfy(line -> assertThat(line).startsWith(prefix).contains("remove the annotation"));
    }

    @Test
    void equalNamesAreRefusedWithTheRemedy() {
        String shapes = WrongHandlers.class.getName() + "$Shapes.overloaded";

        assertThat(Stream.of(log.split("\n")))
                .anySatisfy(line -> assertThat(line)
                        .contains(shapes + "(Known) and " + shapes
                                + "(Known, EventContext) have one name, \"Shapes.overloaded\"")
                        .contains("@InboxHandler(name = ...)"));
    }

    @Test
    void formerNamesThatCollideAreRefused() {
        assertThat(log)
                .contains("  - alias \"two\" of type one on topic aliases (handler one) "
                        + "is the name of a type that is handled there")
                .contains("  - alias \"old\" of type two on topic aliases (handler two) is also an alias of type one");
    }

    @Test
    void theConfigurationIsCheckedInTheSameGo() {
        assertThat(log).contains("  - twinbox.inbox.batch.size = \"none\" must be a whole number from 1 to 10000");
    }
}
