package dev.twinbox.proof.soak;

import dev.twinbox.proof.soak.Fault.Kind;
import dev.twinbox.proof.soak.Fault.Target;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;

/**
 * The faults of a run. They depend only on seed and length, so the seed names the whole list. {@link Random} is used
 * because its specification defines its numbers.
 */
final class FaultSchedule {

    /** New servers get a moment of normal work. */
    private static final int QUIET_START_MS = 3_000;

    /** In a long run each lane has had a fault after this time. */
    private static final int FIRST_FAULT_MS = 40_000;

    private FaultSchedule() {}

    /**
     * Targets that fail one after the other, while targets of other lanes fail at the same time. At most one of the
     * three brokers fails at a time: with two of them away, the sample can only wait.
     */
    enum Lane {
        RELAYS(4, 16, Target.RELAY_1, Target.RELAY_2) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return switch (random.nextInt(5)) {
                    case 0, 1 -> fault(at, Kind.KILL, target, millis(random, 0, 3_000));
                    case 2 -> fault(at, Kind.RESTART, target, millis(random, 0, 3_000));
                    // A pause is longer than the lease of five seconds.
                    default -> fault(at, Kind.PAUSE, target, millis(random, 6_000, 15_000));
                };
            }
        },
        RECEIVERS(20, 40, Target.RECEIVER_1, Target.RECEIVER_2) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return switch (random.nextInt(6)) {
                    case 0, 1 -> fault(at, Kind.KILL, target, millis(random, 0, 5_000));
                    case 2, 3 -> fault(at, Kind.REDEPLOY, target, Duration.ZERO);
                    // A pause is longer than the session timeout of ten seconds.
                    default -> fault(at, Kind.PAUSE, target, millis(random, 12_000, 20_000));
                };
            }
        },
        PRODUCERS(50, 90, Target.PRODUCER) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return fault(at, random.nextInt(4) == 0 ? Kind.RESTART : Kind.KILL, target, millis(random, 0, 2_000));
            }
        },
        BROKERS(25, 50, Target.BROKER_1, Target.BROKER_2, Target.BROKER_3) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return switch (random.nextInt(4)) {
                    case 0, 1 -> fault(at, Kind.KILL, target, millis(random, 0, 10_000));
                    case 2 -> fault(at, Kind.RESTART, target, millis(random, 0, 5_000));
                    // After two seconds the controller moves its leaders to other brokers.
                    default -> fault(at, Kind.PAUSE, target, millis(random, 4_000, 12_000));
                };
            }
        },
        DATABASE(50, 110, Target.POSTGRES) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return fault(at, random.nextInt(3) == 0 ? Kind.RESTART : Kind.KILL, target, millis(random, 0, 5_000));
            }
        },
        CONNECTIONS(
                8,
                25,
                Target.RELAY_1_TO_POSTGRES,
                Target.RELAY_1_TO_KAFKA,
                Target.RELAY_2_TO_POSTGRES,
                Target.RELAY_2_TO_KAFKA,
                Target.RECEIVER_1_TO_POSTGRES,
                Target.RECEIVER_2_TO_POSTGRES,
                Target.RECEIVERS_TO_KAFKA,
                Target.PRODUCER_TO_POSTGRES) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return random.nextBoolean()
                        ? fault(at, Kind.CUT, target, millis(random, 0, 8_000))
                        : fault(at, Kind.BLACK_HOLE, target, millis(random, 3_000, 20_000));
            }
        },
        PARTITIONS(45, 500, Target.TOPIC) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return fault(at, Kind.ADD_PARTITION, target, Duration.ZERO);
            }
        },
        // Later lanes come last. They leave the draws of the lanes before them as they are.
        ROLES(
                15,
                45,
                Target.OUTBOX_EVENT,
                Target.OUTBOX_POSITION,
                Target.OUTBOX_LEASE,
                Target.OUTBOX_PARKED,
                Target.INBOX_EVENT,
                Target.INBOX_PARKED,
                Target.INBOX_EVENT_OFFSET,
                Target.INBOX_HANDLER) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                Kind kind = random.nextBoolean() ? Kind.REVOKE : Kind.HIDE_ROWS;
                return fault(at, kind, target, millis(random, 2_000, 12_000));
            }
        },
        TOPICS(40, 100, Target.TOPIC_NOTICES) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                Kind kind = switch (random.nextInt(3)) {
                    case 0 -> Kind.SAME_PARTITIONS;
                    case 1 -> Kind.FEWER_PARTITIONS;
                    default -> Kind.MORE_PARTITIONS;
                };
                // Every second time it is there again at once: clients may not notice that it was away.
                return fault(at, kind, target, random.nextBoolean() ? Duration.ZERO : millis(random, 1_000, 15_000));
            }
        },
        VERSIONS(30, 90, Target.RECEIVER_1_VERSION, Target.RECEIVER_2_VERSION) {
            @Override
            Fault draw(Random random, Duration at, Target target) {
                return random.nextInt(3) == 0
                        ? fault(at, Kind.OTHER_VERSION_AFTER_KILL, target, millis(random, 0, 3_000))
                        : fault(at, Kind.OTHER_VERSION, target, Duration.ZERO);
            }
        };

        private final int shortestGapSeconds;
        private final int longestGapSeconds;

        @SuppressWarnings("ImmutableEnumChecker") // List.of is immutable
        private final List<Target> targets;

        Lane(int shortestGapSeconds, int longestGapSeconds, Target... targets) {
            this.shortestGapSeconds = shortestGapSeconds;
            this.longestGapSeconds = longestGapSeconds;
            this.targets = List.of(targets);
        }

        abstract Fault draw(Random random, Duration at, Target target);

        /** Pause between two faults. */
        private Duration gap(Random random) {
            return millis(random, shortestGapSeconds * 1000, longestGapSeconds * 1000);
        }

        boolean owns(Target target) {
            return targets.contains(target);
        }

        private static Fault fault(Duration at, Kind kind, Target target, Duration length) {
            return new Fault(0, at, kind, target, length);
        }
    }

    /** All faults that begin within the length of a run, in the order of their times. */
    static List<Fault> of(long seed, Duration length) {
        Random random = new Random(seed);
        List<Fault> faults = new ArrayList<>();
        for (Lane lane : Lane.values()) {
            Duration at = millis(random, QUIET_START_MS, FIRST_FAULT_MS);
            while (at.compareTo(length) < 0) {
                Fault fault = lane.draw(random, at, lane.targets.get(random.nextInt(lane.targets.size())));
                faults.add(fault);
                at = at.plus(fault.length()).plus(lane.gap(random));
            }
        }
        return numbered(faults);
    }

    private static List<Fault> numbered(List<Fault> faults) {
        faults.sort(Comparator.comparing(Fault::at).thenComparing(Fault::target));
        List<Fault> numbered = new ArrayList<>();
        faults.forEach(fault ->
                numbered.add(new Fault(numbered.size() + 1, fault.at(), fault.kind(), fault.target(), fault.length())));
        return List.copyOf(numbered);
    }

    private static Duration millis(Random random, int from, int to) {
        return Duration.ofMillis(from + random.nextInt(to - from));
    }
}
