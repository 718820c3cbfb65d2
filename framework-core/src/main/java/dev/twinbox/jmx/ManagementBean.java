package dev.twinbox.jmx;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.management.InstanceAlreadyExistsException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.jspecify.annotations.Nullable;

/**
 * An MXBean in the JVM's own server of beans, for as long as the application runs. The server of beans holds the
 * application's classes, so the bean has to be closed with the application.
 *
 * <p>Nothing depends on it: what prevents it is logged, and the application runs on.
 */
public final class ManagementBean implements AutoCloseable {

    private static final Logger LOG = System.getLogger(ManagementBean.class.getName());

    private final @Nullable ObjectName name;

    private ManagementBean(@Nullable ObjectName name) {
        this.name = name;
    }

    /**
     * Registers a bean as <code>dev.twinbox:type=…,application="…"</code> and what else its name needs. The application
     * is {@code java:app/AppName}. For a module of another name, for example in an EAR, that name follows after a slash.
     * If there is such a bean already, <code>,instance=2</code> is added, and so on.
     *
     * @param type of the bean, for example {@code Inbox}
     * @param properties further parts of the name, which are quoted
     * @param bean implements an interface whose name ends with {@code MXBean}
     */
    public static ManagementBean register(String type, SortedMap<String, String> properties, Object bean) {
        SortedMap<String, String> all = new TreeMap<>(properties);
        all.put("application", application());
        String text = "dev.twinbox:type=" + type
                + all.entrySet().stream()
                        .map(each -> "," + each.getKey() + "=" + ObjectName.quote(each.getValue()))
                        .collect(Collectors.joining());
        try {
            return new ManagementBean(registered(text, bean));
        } catch (JMException | RuntimeException e) {
            LOG.log(Level.WARNING, "JMX does not show {0}, all else works: {1}", text, e);
            return new ManagementBean(null);
        }
    }

    private static ObjectName registered(String text, Object bean) throws JMException {
        for (int instance = 1; ; instance++) {
            ObjectName name = new ObjectName(instance == 1 ? text : text + ",instance=" + instance);
            try {
                server().registerMBean(bean, name);
                return name;
            } catch (InstanceAlreadyExistsException e) {
                // a second version of the application beside the first, for example
            }
        }
    }

    private static MBeanServer server() {
        return ManagementFactory.getPlatformMBeanServer();
    }

    private static String application() {
        String application = lookUp("java:app/AppName");
        String module = lookUp("java:module/ModuleName");
        return application.equals(module) ? application : application + "/" + module;
    }

    @SuppressWarnings("BanJNDI") // names of the platform
    private static String lookUp(String name) {
        try {
            Object found = InitialContext.doLookup(name);
            return String.valueOf(found);
        } catch (NamingException e) {
            return "unknown";
        }
    }

    @Override
    public void close() {
        if (name == null) {
            return;
        }
        try {
            server().unregisterMBean(name);
        } catch (JMException | RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "{0} cannot be removed from JMX, which holds the application''s classes: {1}",
                    name,
                    e);
        }
    }
}
