package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PayaraMicro;
import jakarta.json.Json;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The processor time of the processes of a run: it shows where the time goes when processors are few. The Linux kernel
 * counts it in hundredths of a second; on other systems it is zero.
 *
 * @param postgresql the server with its backends, also those that have ended
 * @param kafka the broker
 * @param program the measured program
 * @param name the program's name
 */
record ProcessorTime(Duration postgresql, Duration kafka, Duration program, String name) {
    private static final long TICK_MILLIS = 10;
    /** Field of {@code /proc/<pid>/stat}, counted after the program's name. */
    private static final int OWN = 11;

    private static final int OF_ENDED_CHILDREN = 13;

    /**
     * The sum with the programs that this JVM has started, whether they run or have ended. So it never falls, and can be
     * asked while a program ends.
     */
    static ProcessorTime withSenders(BenchServers servers) {
        long postgres = servers.postgres().pid();
        long kafka = servers.kafka().pid();
        Duration ended = read(ProcessHandle.current(), OF_ENDED_CHILDREN);
        Duration running = ProcessHandle.current()
                .children()
                .filter(child -> child.pid() != postgres && child.pid() != kafka)
                .map(child -> read(child, OWN))
                .reduce(Duration.ZERO, Duration::plus);
        return with(servers, ended.plus(running), "sender");
    }

    /** The sum with a running server. */
    static ProcessorTime with(BenchServers servers, PayaraMicro server) {
        return with(servers, ofTree(server.pid()), "payara");
    }

    private static ProcessorTime with(BenchServers servers, Duration program, String name) {
        return new ProcessorTime(
                ofTree(servers.postgres().pid()), ofTree(servers.kafka().pid()), program, name);
    }

    private static Duration ofTree(long pid) {
        return ProcessHandle.of(pid).stream()
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .map(process -> read(process, OWN).plus(read(process, OF_ENDED_CHILDREN)))
                .reduce(Duration.ZERO, Duration::plus);
    }

    private static Duration read(ProcessHandle process, int field) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ", -1);
            return Duration.ofMillis(TICK_MILLIS * (Long.parseLong(fields[field]) + Long.parseLong(fields[field + 1])));
        } catch (IOException e) {
            return Duration.ZERO; // it has just ended and its parent has its time, or this is not Linux
        }
    }

    ProcessorTime since(ProcessorTime before) {
        return new ProcessorTime(
                postgresql.minus(before.postgresql), kafka.minus(before.kafka), program.minus(before.program), name);
    }

    /** This time plus a part of what was used until another. */
    ProcessorTime towards(ProcessorTime later, double part) {
        return new ProcessorTime(
                between(postgresql, later.postgresql, part),
                between(kafka, later.kafka, part),
                between(program, later.program, part),
                name);
    }

    private static Duration between(Duration from, Duration to, double part) {
        return from.plusNanos(Math.round(to.minus(from).toNanos() * part));
    }

    /** Of program and PostgreSQL together, in microseconds per event. */
    double outboxMicros(int events) {
        return program.plus(postgresql).toNanos() / 1e3 / events;
    }

    /** How many processors were busy, on average. */
    double busy(Duration took) {
        return (double) postgresql.plus(kafka).plus(program).toNanos() / took.toNanos();
    }

    /** Microseconds per event. */
    JsonObjectBuilder json(int events) {
        return Json.createObjectBuilder()
                .add("postgresql", micros(postgresql, events))
                .add("kafka", micros(kafka, events))
                .add(name, micros(program, events));
    }

    String told(int events) {
        return String.format(
                Locale.ROOT,
                "CPU µs/event: %s %.1f, PostgreSQL %.1f, Kafka %.1f",
                name,
                micros(program, events),
                micros(postgresql, events),
                micros(kafka, events));
    }

    private static double micros(Duration time, int events) {
        return Math.round(time.toNanos() / 100.0 / events) / 10.0;
    }
}
