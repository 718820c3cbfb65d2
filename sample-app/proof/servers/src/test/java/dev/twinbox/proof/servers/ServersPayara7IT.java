package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;

/** {@link ServerChecks} on Payara Micro 7. */
class ServersPayara7IT extends ServerChecks {

    ServersPayara7IT() {
        super(Product.PAYARA7, "through an EJB");
    }
}
