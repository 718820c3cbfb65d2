package dev.twinbox.proof.bench.receive;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Puts the REST resource under {@code /bench/api}. */
@ApplicationPath("api")
public class BenchApplication extends Application {}
