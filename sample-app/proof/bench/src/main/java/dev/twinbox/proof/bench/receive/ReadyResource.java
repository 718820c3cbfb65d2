package dev.twinbox.proof.bench.receive;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** Answers once the application runs: the server itself says so even when a deployment failed. */
@Path("ready")
public class ReadyResource {

    @GET
    public String ready() {
        return "ready";
    }
}
