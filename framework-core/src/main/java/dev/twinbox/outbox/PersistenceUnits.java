package dev.twinbox.outbox;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;
import org.jspecify.annotations.Nullable;

/**
 * Finds persistence units that use the outbox's data source outside of JTA. What they write would commit or roll back
 * without its events.
 */
final class PersistenceUnits {

    private static final String DESCRIPTOR = "META-INF/persistence.xml";

    private final String dataSource;
    private final List<String> problems = new ArrayList<>();

    /** @param dataSource JNDI name of the outbox's data source */
    private PersistenceUnits(String dataSource) {
        this.dataSource = dataSource;
    }

    /** One sentence for each unit at fault. */
    static List<String> problems(ClassLoader application, String dataSource) {
        PersistenceUnits units = new PersistenceUnits(dataSource);
        try {
            for (URL descriptor : Collections.list(application.getResources(DESCRIPTOR))) {
                try (InputStream content = descriptor.openStream()) {
                    units.read(content);
                }
            }
        } catch (IOException | XMLStreamException e) {
            // The container refuses a descriptor that cannot be read, with a message of its own.
            return List.of();
        }
        return units.problems;
    }

    /** As {@link #problems(ClassLoader, String)}, of one descriptor. */
    static List<String> problems(InputStream descriptor, String dataSource) throws XMLStreamException {
        PersistenceUnits units = new PersistenceUnits(dataSource);
        units.read(descriptor);
        return units.problems;
    }

    private void read(InputStream descriptor) throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        XMLStreamReader reader = factory.createXMLStreamReader(descriptor);
        while (reader.hasNext()) {
            if (reader.next() == XMLStreamConstants.START_ELEMENT
                    && reader.getLocalName().equals("persistence-unit")) {
                readUnit(reader);
            }
        }
    }

    private void readUnit(XMLStreamReader reader) throws XMLStreamException {
        String name =
                Optional.ofNullable(reader.getAttributeValue(null, "name")).orElse("");
        String transactionType = reader.getAttributeValue(null, "transaction-type");
        @Nullable String jta = null;
        @Nullable String nonJta = null;
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.END_ELEMENT && reader.getLocalName().equals("persistence-unit")) {
                break;
            }
            if (event == XMLStreamConstants.START_ELEMENT) {
                switch (reader.getLocalName()) {
                    case "jta-data-source" -> jta = reader.getElementText().strip();
                    case "non-jta-data-source" ->
                        nonJta = reader.getElementText().strip();
                    default -> {
                        // Has no influence on transactions.
                    }
                }
            }
        }
        check(name, transactionType, jta, nonJta);
    }

    private void check(String unit, @Nullable String transactionType, @Nullable String jta, @Nullable String nonJta) {
        boolean ours = dataSource.equals(jta) || dataSource.equals(nonJta);
        boolean local = "RESOURCE_LOCAL".equals(transactionType) || (jta == null && nonJta != null);
        if (ours && local) {
            problems.add("persistence unit \"" + unit + "\" uses the outbox's data source " + dataSource
                    + " outside of JTA: what it writes would not share a transaction with its events; make it"
                    + " transaction-type=\"JTA\" with <jta-data-source>" + dataSource + "</jta-data-source>");
        }
    }
}
