package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;

/** {@link ServerChecks} on GlassFish. */
class ServersGlassFishIT extends ServerChecks {

    ServersGlassFishIT() {
        super(Product.GLASSFISH, "through an EJB");
    }
}
