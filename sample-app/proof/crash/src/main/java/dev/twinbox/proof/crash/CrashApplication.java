package dev.twinbox.proof.crash;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Puts the REST resource under {@code /crash/api}. */
@ApplicationPath("api")
public class CrashApplication extends Application {}
