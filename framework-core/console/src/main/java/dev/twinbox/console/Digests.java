package dev.twinbox.console;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 of secrets. Digests are equally long, so a comparison does not show how long the right secret is. */
final class Digests {

    private Digests() {}

    static byte[] bytes(String secret) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("each Java platform has SHA-256", e);
        }
    }

    static String text(String secret) {
        return HexFormat.of().formatHex(bytes(secret));
    }
}
