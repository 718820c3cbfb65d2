package dev.twinbox.inbox.server;

import com.sun.management.HotSpotDiagnosticMXBean;
import fish.payara.micro.PayaraMicro;
import fish.payara.micro.PayaraMicroRuntime;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Runs Payara Micro in a JVM of its own and executes commands, one per line. Each answer is a line that begins with
 * {@code HOST}.
 */
public final class PayaraHostMain {

    /**
     * The transaction recovery keeps the first application's, the timer of the connection pools keeps the last one's.
     */
    private static final int KEPT_BY_PAYARA = 2;

    private PayaraHostMain() {}

    public static void main(String[] arguments) throws Exception {
        PayaraMicroRuntime server = PayaraMicro.getInstance()
                .setNoCluster(true)
                .setNoHazelcast(true)
                .setHttpPort(Integer.parseInt(arguments[0]))
                .setPreBootHandler(asadmin -> asadmin.run(
                        "set",
                        "configs.config.server-config.network-config.network-listeners"
                                + ".network-listener.http-listener.address=127.0.0.1"))
                .bootStrap();
        answer("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            try {
                answer(execute(server, line.split("\t")));
            } catch (Exception e) {
                e.printStackTrace();
                answer("failed " + e);
            }
        }
        // The parent is gone.
        Runtime.getRuntime().halt(1);
    }

    private static String execute(PayaraMicroRuntime server, String[] command) throws Exception {
        return switch (command[0]) {
            case "deploy" -> {
                server.deploy(command[1], command[1], new File(command[2]));
                yield "done " + server.getDeployedApplicationNames();
            }
            case "undeploy" -> {
                server.undeploy(command[1]);
                yield "done";
            }
            case "set" -> {
                server.run("set", command[1]).values().forEach(PayaraHostMain::await);
                yield "done";
            }
            case "threads" ->
                Thread.getAllStackTraces().keySet().stream()
                        .map(Thread::getName)
                        .filter(name -> name.startsWith("twinbox") || name.contains("kafka"))
                        .sorted()
                        .collect(Collectors.joining("|"));
            case "mbeans" ->
                ManagementFactory.getPlatformMBeanServer().queryNames(null, null).stream()
                        .map(Object::toString)
                        .filter(name -> name.startsWith("kafka") || name.contains("twinbox"))
                        .sorted()
                        .collect(Collectors.joining("|"));
            case "loaders" -> Integer.toString(loadersLeft(Duration.ofSeconds(Long.parseLong(command[1]))));
            default -> throw new IllegalArgumentException(command[0]);
        };
    }

    private static void await(java.util.concurrent.Future<?> result) {
        try {
            result.get();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Collects garbage until only the class loaders are left that Payara keeps, or the time is over. */
    private static int loadersLeft(Duration limit) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        long left;
        do {
            System.gc();
            left = undeployedLoaders().stream().filter(ref -> ref.get() != null).count();
        } while (left > KEPT_BY_PAYARA && System.nanoTime() < deadline);
        if (left > KEPT_BY_PAYARA) {
            // This heap dump shows what holds them.
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpHeap("target/loaders-left-" + ProcessHandle.current().pid() + ".hprof", true);
        }
        return (int) left;
    }

    @SuppressWarnings("unchecked")
    private static List<WeakReference<ClassLoader>> undeployedLoaders() {
        return (List<WeakReference<ClassLoader>>)
                System.getProperties().getOrDefault("twinbox.test.loaders", List.of());
    }

    private static void answer(String text) {
        System.out.println();
        System.out.println("HOST " + text);
        System.out.flush();
    }
}
