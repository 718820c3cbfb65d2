package dev.twinbox.sample.demo;

import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Installation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** The command {@code demo} of {@code sample-app/run}. */
public final class DemoMain {

    private static final int FAILED = 1;
    private static final int WRONG_USE = 2;

    private DemoMain() {}

    /** Runs until Ctrl-C. Settings are system properties: {@link DemoSettings}. There are no arguments. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    private static int run(String[] arguments) {
        if (arguments.length > 0) {
            System.err.println("Unknown argument: " + arguments[0]);
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
        return start(demo);
    }

    private static int start(Demo demo) {
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
        awaitInterrupt();
        return 0;
    }

    private static void awaitInterrupt() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
