package dev.twinbox.proof.servers;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Builds the application without JPA as an EAR: a WAR with the servlet, an ejb-jar with the rest, libraries in {@code lib}. */
final class EarFile {

    private static final String SERVLET = "DeskServlet.class";
    private static final String BEANS = """
            <beans xmlns="https://jakarta.ee/xml/ns/jakartaee" version="4.0" bean-discovery-mode="annotated"/>
            """;

    private EarFile() {}

    /**
     * @param name of the file, and context root of the WAR
     * @param configuration of MicroProfile Config
     */
    static Path build(String name, String configuration) throws IOException {
        Path file = Files.createDirectories(Path.of("target", "wars"))
                .resolve(name + ".ear")
                .toAbsolutePath();
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream ear = new ZipOutputStream(out)) {
            add(ear, "META-INF/application.xml", """
                    <application xmlns="https://jakarta.ee/xml/ns/jakartaee" version="10">
                      <application-name>%1$s</application-name>
                      <module><ejb>desk.jar</ejb></module>
                      <module><web><web-uri>desk.war</web-uri><context-root>/%1$s</context-root></web></module>
                      <library-directory>lib</library-directory>
                    </application>
                    """.formatted(name));
            for (Path library : WarFile.libraries()) {
                add(ear, "lib/" + library.getFileName(), Files.readAllBytes(library));
            }
            add(ear, "desk.jar", ejbJar(configuration));
            add(ear, "desk.war", war(configuration));
        }
        return file;
    }

    private static byte[] ejbJar(String configuration) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream jar = new ZipOutputStream(bytes)) {
            add(jar, "META-INF/beans.xml", BEANS);
            add(jar, "META-INF/microprofile-config.properties", configuration);
            for (Path each : WarFile.classes("plain")) {
                if (!each.endsWith(SERVLET)) {
                    add(jar, WarFile.nameOf(each), Files.readAllBytes(each));
                }
            }
        }
        return bytes.toByteArray();
    }

    private static byte[] war(String configuration) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream war = new ZipOutputStream(bytes)) {
            add(war, "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nClass-Path: desk.jar\n");
            add(war, "WEB-INF/beans.xml", BEANS);
            add(war, "WEB-INF/classes/META-INF/microprofile-config.properties", configuration);
            for (Path each : WarFile.classes("plain")) {
                if (each.endsWith(SERVLET)) {
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
