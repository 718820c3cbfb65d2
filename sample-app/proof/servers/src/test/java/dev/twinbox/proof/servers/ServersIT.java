package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;
import org.junit.jupiter.api.Nested;

/** {@link ServerChecks} on each server that Twinbox supports, one after the other. */
class ServersIT {

    @Nested
    class WildFly39 extends ServerChecks {
        WildFly39() {
            super(Product.WILDFLY, "through an EJB");
        }
    }

    @Nested
    class Liberty26 extends ServerChecks {
        Liberty26() {
            super(Product.LIBERTY, "directly");
        }
    }

    @Nested
    class GlassFish7 extends ServerChecks {
        GlassFish7() {
            super(Product.GLASSFISH, "through an EJB");
        }
    }

    @Nested
    class Payara7 extends ServerChecks {
        Payara7() {
            super(Product.PAYARA7, "through an EJB");
        }
    }

    @Nested
    class Payara6 extends ServerChecks {
        Payara6() {
            super(Product.PAYARA6, "through an EJB");
        }
    }
}
