package dev.twinbox.proof.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Builds the application without JPA as an EAR: a WAR, and an ejb-jar with the bean that knows nothing of Twinbox. */
final class EarFile {

    private static final String EJB = "Rows.class";
    private static final String BEANS = """
            <beans xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0" bean-discovery-mode="annotated"/>
            """;

    private EarFile() {}

    /**
     * Twinbox is in the WAR, in {@code WEB-INF/lib}.
     *
     * @param file of which the name is the context root of the WAR
     * @param configuration of MicroProfile Config
     */
    static Path build(Path file, String configuration) throws IOException {
        return build(file, configuration, "", WarFile.libraries());
    }

    /** Twinbox is in the EAR's {@code lib}, where a server does not look for session beans. */
    static Path buildWithTwinboxInLib(Path file, String configuration) throws IOException {
        return build(file, configuration, "lib/", List.of());
    }

    private static Path build(Path file, String configuration, String lib, List<Path> inWar) throws IOException {
        String name = file.getFileName().toString().replace(".ear", "");
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream ear = new ZipOutputStream(out)) {
            add(ear, "META-INF/application.xml", """
                    <application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
                      <application-name>%1$s</application-name>
                      <module><ejb>rows.jar</ejb></module>
                      <module><web><web-uri>desk.war</web-uri><context-root>/%1$s</context-root></web></module>
                      <library-directory>lib</library-directory>
                    </application>
                    """.formatted(name));
            if (!lib.isEmpty()) {
                for (Path library : WarFile.libraries()) {
                    add(ear, lib + library.getFileName(), Files.readAllBytes(library));
                }
            }
            add(ear, "rows.jar", ejbJar());
            add(ear, "desk.war", war(configuration, inWar));
        }
        return file;
    }

    private static byte[] ejbJar() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream jar = new ZipOutputStream(bytes)) {
            add(jar, "META-INF/beans.xml", BEANS);
            for (Path each : WarFile.classes("plain")) {
                if (each.endsWith(EJB)) {
                    add(jar, WarFile.nameOf(each), Files.readAllBytes(each));
                }
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] war(String configuration, List<Path> libraries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream war = new ZipOutputStream(bytes)) {
            add(war, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nClass-Path: rows.jar\n");
            add(war, "WEB-INF/beans.xml", BEANS);
            add(war, "WEB-INF/classes/META-INF/microprofile-config.properties", configuration);
            for (Path library : libraries) {
                add(war, "WEB-INF/lib/" + library.getFileName(), Files.readAllBytes(library));
            }
            for (Path each : WarFile.classes("plain")) {
                if (!each.endsWith(EJB)) {
                    add(war, "WEB-INF/classes/" + WarFile.nameOf(each), Files.readAllBytes(each));
                }
            }
        }
        return bytes.toByteArray();
    }

    private static void add(ZipOutputStream zip, String name, String text) throws IOException {
        add(zip, name, text.getBytes(StandardCharsets.UTF_8));
    }

    private static void add(ZipOutputStream zip, String name, byte[] content) throws IOException {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(content);
        zip.closeEntry();
    }
}
