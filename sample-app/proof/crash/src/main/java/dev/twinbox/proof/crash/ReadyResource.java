package dev.twinbox.proof.crash;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;

/** Answers when the application runs. The server itself is ready even if a deployment failed. */
@Path("ready")
public class ReadyResource {

    @GET
    public String ready() {
        return "ready";
    }
}
