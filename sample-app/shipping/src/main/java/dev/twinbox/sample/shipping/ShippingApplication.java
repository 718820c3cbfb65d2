package dev.twinbox.sample.shipping;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Puts the REST resources under {@code /shipping/api}. */
@ApplicationPath("api")
public class ShippingApplication extends Application {}
