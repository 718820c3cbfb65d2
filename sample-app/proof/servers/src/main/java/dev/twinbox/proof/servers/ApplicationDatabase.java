package dev.twinbox.proof.servers;

import java.nio.file.Path;

/**
 * The database of an application, for the server's data source.
 *
 * @param port of PostgreSQL on 127.0.0.1
 * @param driver the jar of PostgreSQL's JDBC driver
 */
public record ApplicationDatabase(int port, String name, String user, String password, Path driver) {}
