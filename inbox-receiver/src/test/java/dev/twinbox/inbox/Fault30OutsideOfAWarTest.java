package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.InboxHandler;
import dev.twinbox.inbox.jdbc.NewTransaction;
import jakarta.enterprise.inject.spi.AfterDeploymentValidation;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.Bean;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.enterprise.inject.spi.ProcessAnnotatedType;
import jakarta.enterprise.inject.spi.ProcessSessionBean;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Outside of a WAR the receiver's session beans do not exist, so it would never start. Payara Micro takes no such
 * application. So its events are made here.
 */
class Fault30OutsideOfAWarTest {

    private static final String PROBLEM = "twinbox-inbox is not part of a web application";

    private static final class Handlers {
        @InboxHandler(topic = "t", type = "y")
        public void handle(byte[] event) {}
    }

    private final InboxExtension extension = new InboxExtension();

    @Test
    void anApplicationWithoutTheReceiversSessionBeansIsRefused() {
        assertThat(problem()).contains(PROBLEM).contains("WEB-INF/lib");
    }

    @Test
    void oneThatHasThemIsNotRefusedForThat() {
        AnnotatedType<?> type =
                answering(AnnotatedType.class, Map.of("getJavaClass", NewTransaction.class, "getMethods", Set.of()));
        Bean<?> bean = answering(Bean.class, Map.of("getTypes", Set.of()));
        extension.noteBean(answering(
                ProcessSessionBean.class,
                Map.of("getAnnotatedBeanClass", type, "getBean", bean, "getEjbName", "NewTransaction")));

        assertThat(problem()).isNotEmpty().doesNotContain(PROBLEM);
    }

    /** What the deployment of an application with a handler ends with. It has no configuration either. */
    private String problem() {
        AnnotatedType<?> handlers = answering(AnnotatedType.class, Map.of("getJavaClass", Handlers.class));
        extension.noteAnnotatedClass(answering(ProcessAnnotatedType.class, Map.of("getAnnotatedType", handlers)));
        List<Throwable> problems = new ArrayList<>();
        AfterDeploymentValidation event = (AfterDeploymentValidation) Proxy.newProxyInstance(
                AfterDeploymentValidation.class.getClassLoader(),
                new Class<?>[] {AfterDeploymentValidation.class},
                (proxy, method, arguments) -> {
                    problems.add((Throwable) arguments[0]);
                    return null;
                });
        extension.validate(event, answering(BeanManager.class, Map.of()));
        assertThat(problems).hasSize(1);
        return String.valueOf(problems.get(0).getMessage());
    }

    /** An event or a part of it, with its answers by the name of the method. */
    private static <T> T answering(Class<T> type, Map<String, ?> answers) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(),
                new Class<?>[] {type},
                (proxy, method, arguments) -> answers.get(method.getName())));
    }
}
