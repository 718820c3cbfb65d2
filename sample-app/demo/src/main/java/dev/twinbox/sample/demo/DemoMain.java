package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The commands {@code demo} and {@code ledger} of {@code sample-app/run}. */
public final class DemoMain {

    private static final int FAILED = 1;
    private static final int WRONG_USE = 2;
    private static final String LEDGER = "ledger";

    private DemoMain() {}

    /**
     * Runs until Ctrl-C; with the argument {@code ledger}, until the ledger is exact or wrong. Settings are system
     * properties: {@link DemoSettings}.
     */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        List<String> commands = List.of(arguments);
        if (!commands.isEmpty() && !commands.equals(List.of(LEDGER))) {
            System.err.println("Unknown arguments: " + String.join(" ", commands));
            return WRONG_USE;
        }
        Demo demo;
        try {
            DemoSettings settings = DemoSettings.from(System.getProperties());
            Installation installation =
                    Installation.in(Path.of(System.getProperty(DemoSettings.ROOT, ".")), BuiltFile.SAMPLE);
            demo = new Demo(installation, settings, new Journal(System.out));
        } catch (IllegalArgumentException | IllegalStateException | IOException e) {
            System.err.println(e.getMessage());
            return WRONG_USE;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(demo::close, "stop"));
        return start(demo, commands.contains(LEDGER) ? demo::drill : DemoMain::awaitInterrupt);
    }

    private static int start(Demo demo, Runnable work) {
        try {
            demo.start();
        } catch (RuntimeException e) {
            if (demo.isStopping()) {
                return 0; // the JVM exits with the code of the signal
            }
            demo.close();
            System.err.println("The demo cannot start: " + e.getMessage());
            return FAILED;
        }
        return run(demo, work);
    }

    private static int run(Demo demo, Runnable work) {
        try {
            work.run();
            return 0;
        } catch (RuntimeException e) {
            if (demo.isStopping()) {
                return 0; // the JVM exits with the code of the signal
            }
            System.err.println(e.getMessage());
            return FAILED;
        } finally {
            demo.close();
        }
    }

    private static void awaitInterrupt() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
