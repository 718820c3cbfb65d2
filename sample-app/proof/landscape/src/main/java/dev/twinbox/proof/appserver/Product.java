package dev.twinbox.proof.appserver;

import dev.twinbox.fixtures.ApplicationServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;

/** An application server that Twinbox is tested on. */
public enum Product {
    WILDFLY("WildFly", 17),
    LIBERTY("Open Liberty", 17),
    GLASSFISH("GlassFish", 17),
    PAYARA7("Payara Micro", 21),
    PAYARA6("Payara Micro", 17);

    private static final String FILES = "distributions.properties";

    private final String brand;
    private final int javaVersion;

    Product(String brand, int javaVersion) {
        this.brand = brand;
        this.javaVersion = javaVersion;
    }

    /** The name in commands and files, such as {@code wildfly}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** All labels, for a message. */
    public static String labels() {
        return Arrays.stream(values()).map(Product::label).collect(Collectors.joining(", "));
    }

    /** The product of this label. */
    public static Optional<Product> labelled(String label) {
        return Arrays.stream(values())
                .filter(product -> product.label().equals(label))
                .findFirst();
    }

    /** Name and version. */
    public String title() {
        return brand + " " + Objects.requireNonNull(distribution().getParent()).getFileName();
    }

    /** The lowest version of the JDK that it runs with. */
    public int javaVersion() {
        return javaVersion;
    }

    /** The file in Maven's local repository. It may be missing. */
    public Path distribution() {
        Properties files = new Properties();
        try (InputStream in = Product.class.getResourceAsStream(FILES)) {
            if (in == null) {
                throw new IllegalStateException(FILES + " is missing from the jar");
            }
            files.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return Path.of(Objects.requireNonNull(files.getProperty(label()), label()));
    }

    /**
     * A server that is not started yet.
     *
     * @param database of its data source {@link ApplicationDatabase#DATA_SOURCE}
     * @throws IllegalStateException if the server's file or a JDK for it is missing; the message says what to do
     */
    public ApplicationServer server(ApplicationDatabase database) {
        Path file = distribution();
        if (!Files.isRegularFile(file)) {
            throw new IllegalStateException(title() + " is not there: " + file
                    + ". To download it run: ./mvnw -Pservers dependency:get@" + label()
                    + " -pl sample-app/proof/servers");
        }
        Path jdk = Jdk.atLeast(javaVersion)
                .orElseThrow(() -> new IllegalStateException(title() + " needs a JDK " + javaVersion
                        + " or later. There is none in JAVA_HOME or " + Jdk.INSTALLED + "; set JAVA_HOME to one."));
        return switch (this) {
            case WILDFLY -> new WildFly(jdk, file, database);
            case LIBERTY -> new OpenLiberty(jdk, file, database);
            case GLASSFISH -> new GlassFish(jdk, file, database);
            case PAYARA7, PAYARA6 -> new PayaraMicroServer(label(), jdk, file, database);
        };
    }
}
