package dev.twinbox.relay;

import picocli.CommandLine.IVersionProvider;

/** The version of the jar. */
final class Version implements IVersionProvider {

    static String number() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version == null ? "(not from its jar)" : version;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"twinbox-relay " + number()};
    }
}
