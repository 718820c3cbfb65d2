package dev.twinbox.proof.soak;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Which events of a type were written while keys moved to other partitions, because their topic was created again with
 * another number of them. Kafka keeps no order of a key across such a move. Any thread uses it.
 */
final class Moves {

    private final List<Move> moves = new CopyOnWriteArrayList<>();

    /**
     * One move.
     *
     * @param after by key, the last number before it
     * @param upTo by key, the last number of it; empty while it lasts
     */
    private record Move(String type, Map<String, Long> after, Map<String, Long> upTo) {

        boolean has(String key, long number) {
            return number > after.getOrDefault(key, 0L) && (upTo.isEmpty() || number <= upTo.getOrDefault(key, 0L));
        }
    }

    /** A move begins, before the topic is deleted. All events up to these numbers are applied. */
    void begin(String type, Map<String, Long> after) {
        moves.add(new Move(type, Map.copyOf(after), Map.of()));
    }

    /** The last move is over. All events up to these numbers are applied. */
    void end(Map<String, Long> upTo) {
        int last = moves.size() - 1;
        moves.set(last, new Move(moves.get(last).type(), moves.get(last).after(), Map.copyOf(upTo)));
    }

    /** Whether an event was written during a move. */
    boolean has(String type, String key, long number) {
        return moves.stream().anyMatch(move -> move.type().equals(type) && move.has(key, number));
    }
}
