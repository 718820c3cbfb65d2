package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import dev.twinbox.RetryLaterException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class RetryChecksTest {

    static final class Busy extends RetryLaterException {
        private static final long serialVersionUID = 1;

        Busy() {
            super(Duration.ofSeconds(1));
        }
    }

    static class Handlers {
        @InboxHandler(notRetried = {IOException.class, RuntimeException.class})
        public void legal() throws IOException, Busy {}

        @InboxHandler
        public void none() {}

        @InboxHandler(notRetried = Throwable.class, delivery = DeliveryContract.AT_LEAST_ONCE)
        public void atLeastOnce() {}

        @InboxHandler(notRetried = IOException.class, delivery = DeliveryContract.AT_MOST_ONCE)
        public void atMostOnce() {}

        @InboxHandler(delivery = DeliveryContract.AT_MOST_ONCE)
        public void atMostOnceLater() throws IOException, Busy {}

        @InboxHandler(notRetried = {Busy.class, AlreadyDoneException.class})
        public void contradictory() {}

        @InboxHandler(breakOn = IOException.class)
        public void breaking() {}

        @InboxHandler(breakOn = IOException.class, delivery = DeliveryContract.AT_MOST_ONCE)
        public void atMostOnceBreaking() {}

        @InboxHandler(
                breakOn = {IOException.class, Busy.class},
                notRetried = IOException.class)
        public void breakingAndNotRetried() {}

        @InboxHandler(
                breakOn = {FileNotFoundException.class, TimeoutException.class},
                notRetried = {Exception.class, IOException.class, IllegalStateException.class})
        public void covered() {}

        @InboxHandler(breakOn = IOException.class, notRetried = FileNotFoundException.class)
        public void narrower() {}
    }

    @Test
    void legalRulesAreRead() {
        List<String> breaches = new ArrayList<>();

        assertThat(read("legal", breaches).notRetried())
                .containsExactlyInAnyOrder(IOException.class, RuntimeException.class);
        assertThat(read("none", breaches).notRetried()).isEmpty();
        assertThat(read("atLeastOnce", breaches).notRetried()).containsExactly(Throwable.class);
        assertThat(breaches).isEmpty();
    }

    @Test
    void whatCannotHoldForAtMostOnceIsRefused() {
        assertThat(breaches("atMostOnce"))
                .containsExactly("it is called at most once for an event, so nothing is ever retried; "
                        + "remove notRetried, or choose another delivery");
        assertThat(breaches("atMostOnceLater"))
                .containsExactly("it declares Busy, but is called at most once for an event, so the event would be "
                        + "dropped; choose another delivery, or do not throw it");
    }

    @Test
    void anExceptionThatIsNoFailureCannotBeNamed() {
        assertThat(breaches("contradictory"))
                .containsExactly(
                        "its notRetried names Busy, which asks for another try; remove it, or throw another exception",
                        "its notRetried names AlreadyDoneException, after which the event counts as handled; "
                                + "remove it, or throw another exception");
    }

    @Test
    void theRulesOfACircuitBreakerAreChecked() {
        List<String> breaches = new ArrayList<>();
        assertThat(read("breaking", breaches).breakOn()).containsExactly(IOException.class);
        assertThat(breaches).isEmpty();

        assertThat(breaches("atMostOnceBreaking"))
                .containsExactly("it is called at most once for an event, so no event can be parked while its circuit "
                        + "breaker is open; remove breakOn, or choose another delivery");
        assertThat(breaches("breakingAndNotRetried"))
                .containsExactly(
                        "its breakOn names Busy, which asks for another try; remove it, or throw another exception",
                        "its notRetried and its breakOn both name IOException, but after a pause a further try helps "
                                + "or it does not; remove it from one of them");
    }

    /** Its events would be dead after one attempt while the service is away. */
    @Test
    void fault118NotRetriedMustNotCoverWhatTheBreakerIsFor() {
        String rest = " of its breakOn too, but after a pause a further try helps or it does not; name narrower "
                + "exceptions in notRetried";

        assertThat(breaches("covered"))
                .containsExactly(
                        "its notRetried names Exception, and so FileNotFoundException" + rest,
                        "its notRetried names IOException, and so FileNotFoundException" + rest,
                        "its notRetried names Exception, and so TimeoutException" + rest);
        assertThat(breaches("narrower")).isEmpty();
    }

    private static List<String> breaches(String name) {
        List<String> breaches = new ArrayList<>();
        read(name, breaches);
        return breaches;
    }

    private static HandlerOptions read(String name, List<String> breaches) {
        Method method = Stream.of(Handlers.class.getMethods())
                .filter(candidate -> candidate.getName().equals(name))
                .findFirst()
                .orElseThrow();
        return HandlerOptions.of(method.getAnnotation(InboxHandler.class), method, HandlerShape.EVENT, breaches);
    }
}
