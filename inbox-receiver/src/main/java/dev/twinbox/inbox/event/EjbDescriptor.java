package dev.twinbox.inbox.event;

import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/**
 * What {@code ejb-jar.xml} says about session beans. It overrides annotations, so a handler that looks right in the
 * source can run in another transaction than the receiver's.
 */
public final class EjbDescriptor {

    private static final String ANY_METHOD = "*";
    private static final Set<String> NOT_OURS = Set.of("RequiresNew", "NotSupported", "Never");

    private final Element root;

    private EjbDescriptor(Element root) {
        this.root = root;
    }

    /** Empty if it is not XML, which the container reports. */
    public static Optional<EjbDescriptor> read(InputStream xml) {
        try {
            DocumentBuilderFactory factory = DocumentBuilderFactory.newDefaultInstance();
            factory.setNamespaceAware(true);
            factory.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
            factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
            return Optional.of(
                    new EjbDescriptor(factory.newDocumentBuilder().parse(xml).getDocumentElement()));
        } catch (Exception e) { // of the parser, whichever it is
            return Optional.empty();
        }
    }

    /**
     * Checks a handler.
     *
     * @param ejb name of its session bean
     * @return one sentence for each problem: class, method, rule and remedy
     */
    public List<String> problems(String ejb, Class<?> owner, Method method) {
        List<String> breaches = new ArrayList<>();
        checkTransaction(ejb, method, breaches);
        if (isDenied(ejb, method)) {
            breaches.add(
                    "ejb-jar.xml demands a role for it, but the receiver calls without a caller's identity, so every"
                            + " event would be refused; remove it there, or declare it <unchecked/>");
        }
        boolean isAsynchronous = children(root, "enterprise-beans", "session")
                .filter(named(ejb))
                .flatMap(session -> children(session, "async-method"))
                .anyMatch(asynchronous -> isOf(asynchronous, method));
        if (isAsynchronous) {
            breaches.add(
                    "ejb-jar.xml makes it asynchronous, so the receiver could not know whether it succeeded; remove"
                            + " <async-method> there");
        }
        return breaches.stream()
                .map(breach -> owner.getName() + "." + method.getName() + ": " + breach)
                .toList();
    }

    private void checkTransaction(String ejb, Method method, List<String> breaches) {
        boolean isBeanManaged = children(root, "enterprise-beans", "session")
                .filter(named(ejb))
                .anyMatch(session -> text(session, "transaction-type").equals("Bean"));
        if (isBeanManaged) {
            breaches.add("ejb-jar.xml makes its class manage transactions itself, which suspends the receiver's"
                    + " transaction; remove <transaction-type>Bean</transaction-type> there");
        }
        mostSpecific("container-transaction", ejb, method)
                .map(declared -> text(declared, "trans-attribute"))
                .filter(NOT_OURS::contains)
                .ifPresent(attribute -> breaches.add("ejb-jar.xml gives it the transaction attribute " + attribute
                        + ", which would run it outside the receiver's transaction, so its effect and the inbox row would"
                        + " not commit together; use Required, Mandatory or Supports there"));
    }

    private boolean isDenied(String ejb, Method method) {
        boolean isExcluded = children(root, "assembly-descriptor", "exclude-list", "method")
                .anyMatch(declared -> isOf(declared, ejb, method));
        boolean isUnchecked = permissions(ejb, method)
                .anyMatch(p -> children(p, "unchecked").findAny().isPresent());
        boolean isForRoles = permissions(ejb, method)
                .anyMatch(p -> children(p, "role-name").findAny().isPresent());
        return isExcluded || (isForRoles && !isUnchecked);
    }

    private Stream<Element> permissions(String ejb, Method method) {
        return children(root, "assembly-descriptor", "method-permission")
                .filter(permission -> children(permission, "method").anyMatch(m -> isOf(m, ejb, method)));
    }

    /** A method with its parameters wins over a name, and a name over an asterisk. */
    private Optional<Element> mostSpecific(String declaration, String ejb, Method method) {
        return children(root, "assembly-descriptor", declaration)
                .flatMap(parent -> children(parent, "method"))
                .filter(declared -> isOf(declared, ejb, method))
                .max(Comparator.comparing((Element declared) ->
                                children(declared, "method-params").findAny().isPresent())
                        .thenComparing(
                                declared -> !text(declared, "method-name").equals(ANY_METHOD)))
                .map(declared -> (Element) declared.getParentNode());
    }

    private static boolean isOf(Element declared, String ejb, Method method) {
        return text(declared, "ejb-name").equals(ejb)
                && (text(declared, "method-name").equals(ANY_METHOD) || isOf(declared, method));
    }

    private static boolean isOf(Element declared, Method method) {
        List<String> parameters =
                Stream.of(method.getParameterTypes()).map(Class::getTypeName).toList();
        boolean anyParameters = children(declared, "method-params").findAny().isEmpty();
        return text(declared, "method-name").equals(method.getName())
                && (anyParameters
                        || children(declared, "method-params", "method-param")
                                .map(parameter -> parameter.getTextContent().trim())
                                .toList()
                                .equals(parameters));
    }

    private static Predicate<Element> named(String ejb) {
        return session -> text(session, "ejb-name").equals(ejb);
    }

    private static String text(Element parent, String name) {
        return children(parent, name)
                .map(child -> child.getTextContent().trim())
                .findFirst()
                .orElse("");
    }

    /** The elements at the end of that path. */
    private static Stream<Element> children(Element parent, String... path) {
        Stream<Element> found = Stream.of(parent);
        for (String name : path) {
            found = found.flatMap(element -> {
                List<Element> children = new ArrayList<>();
                for (Node node = element.getFirstChild(); node != null; node = node.getNextSibling()) {
                    if (node instanceof Element child && name.equals(child.getLocalName())) {
                        children.add(child);
                    }
                }
                return children.stream();
            });
        }
        return found;
    }
}
