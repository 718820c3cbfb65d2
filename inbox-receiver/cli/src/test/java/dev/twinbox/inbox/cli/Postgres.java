package dev.twinbox.inbox.cli;

import dev.twinbox.fixtures.PostgresServer;

/** The server that the tests of this JVM share; started when first asked for, ended with the JVM. */
final class Postgres {

    private static final PostgresServer SERVER = PostgresServer.create().start();

    private Postgres() {}

    static PostgresServer server() {
        return SERVER;
    }
}
