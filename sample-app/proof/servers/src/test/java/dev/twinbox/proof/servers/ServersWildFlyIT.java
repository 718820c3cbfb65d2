package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;

/** {@link ServerChecks} on WildFly. */
class ServersWildFlyIT extends ServerChecks {

    ServersWildFlyIT() {
        super(Product.WILDFLY, "through an EJB");
    }
}
