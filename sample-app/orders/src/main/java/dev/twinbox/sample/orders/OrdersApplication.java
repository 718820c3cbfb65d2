package dev.twinbox.sample.orders;

import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.core.Application;

/** Puts the REST resources under {@code /orders/api}. */
@ApplicationPath("api")
public class OrdersApplication extends Application {}
