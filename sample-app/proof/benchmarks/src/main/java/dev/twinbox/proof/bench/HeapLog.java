package dev.twinbox.proof.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The heap of a JVM after each garbage collection, from the JVM's own log. */
final class HeapLog {

    // [12.345s][info][gc] GC(17) Pause Young (Normal) (G1 Evacuation Pause) 58M->31M(64M) 2.345ms
    private static final Pattern COLLECTION = Pattern.compile("GC\\(\\d+\\) Pause .* (\\d+)M->(\\d+)M\\(\\d+M\\)");

    private HeapLog() {}

    static String jvmOption(Path log) {
        return "-Xlog:gc:file=" + log;
    }

    /** The largest heap after a collection, in MiB. */
    static int peakAfterCollection(Path log) throws IOException {
        try (Stream<String> lines = Files.lines(log)) {
            List<Integer> left = lines.flatMap(line -> COLLECTION.matcher(line).results())
                    .map((MatchResult match) -> Integer.parseInt(match.group(2)))
                    .toList();
            return left.stream()
                    .max(Integer::compare)
                    .orElseThrow(() -> new InvalidRunException(
                            "the relay never collected garbage: it had too little to do, take more rows"));
        }
    }
}
