package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;

/** {@link ServerChecks} on Payara Micro 6. */
class ServersPayara6IT extends ServerChecks {

    ServersPayara6IT() {
        super(Product.PAYARA6, "through an EJB");
    }
}
