package dev.twinbox.proof.servers;

import dev.twinbox.proof.appserver.Product;

/** {@link ServerChecks} on Open Liberty. */
class ServersLibertyIT extends ServerChecks {

    ServersLibertyIT() {
        super(Product.LIBERTY, "directly");
    }
}
