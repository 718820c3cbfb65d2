package dev.twinbox.relay;

import dev.twinbox.console.operator.Since;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.EventQuery;
import dev.twinbox.relay.operator.EventAnswer;
import dev.twinbox.relay.operator.EventFinder;
import dev.twinbox.relay.operator.EventJson;
import java.io.PrintWriter;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** Answers where an event is. Works whether the relay runs or not, and changes nothing. */
@Command(
        name = "events",
        description = "Says where an event is: not sent yet, parked, scheduled, or on Kafka with partition and offset. "
                + "Changes nothing.",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {EventsCommand.ListEvents.class, EventsCommand.ShowEvent.class})
final class EventsCommand {
    @Mixin
    private ConfigurationOption configuration;

    /** What both commands have in common. */
    abstract static class OnEvents implements Callable<Integer> {
        @ParentCommand
        private EventsCommand parent;

        @Spec
        private CommandSpec spec;

        @Option(names = "--topic", description = "The event's topic, if it is in no table any more.")
        private @Nullable String topic;

        @Option(
                names = "--since",
                paramLabel = "WHEN",
                description = "Reads the topic from this time on, for example 2026-11-29T12:00:00Z, or a duration "
                        + "back from now, for example PT1H.")
        private @Nullable String since;

        @Option(names = "--json", description = "Prints one JSON document.")
        private boolean isJson;

        @Override
        public Integer call() {
            EventQuery query;
            try {
                query = query(topic, Since.parse("--since", since));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), e.getMessage(), e);
            }
            PrintWriter out = spec.commandLine().getOut();
            ConfigurationOption.Work work = (connection, config) -> {
                EventAnswer answer = EventFinder.find(query, config, connection);
                (isJson ? Stream.of(json(answer)) : text(answer)).forEach(out::println);
                out.flush();
                return ExitCode.OK;
            };
            return isJson ? parent.configuration.onDatabaseForJson(work) : parent.configuration.onDatabase(work);
        }

        /** @throws IllegalArgumentException if the arguments are wrong */
        abstract EventQuery query(@Nullable String topicOfEvent, Since from);

        abstract String json(EventAnswer answer);

        abstract Stream<String> text(EventAnswer answer);
    }

    /** One line for each event. */
    @Command(name = "list", description = "Lists the events of a key, newest first, and where each of them is.")
    static final class ListEvents extends OnEvents {
        @Option(names = "--key", required = true, description = "The key.")
        private String key;

        @Option(
                names = "--limit",
                paramLabel = "N",
                defaultValue = "100",
                description = "Most events, at most 1000; default: ${DEFAULT-VALUE}.")
        private int limit;

        @Override
        EventQuery query(@Nullable String topicOfEvent, Since from) {
            if (limit < 1 || limit > 1_000) {
                throw new IllegalArgumentException("--limit " + limit + " must be from 1 to 1000");
            }
            return new EventQuery(null, topicOfEvent, key, from.time(), from.age(), limit);
        }

        @Override
        String json(EventAnswer answer) {
            return EventJson.all(answer).build().toString();
        }

        @Override
        Stream<String> text(EventAnswer answer) {
            return EventText.list(answer);
        }
    }

    /** All that is known of where one event is. */
    @Command(name = "show", description = "Shows where an event is, and where it was looked for.")
    static final class ShowEvent extends OnEvents {
        @Parameters(paramLabel = "ID", description = "The id of the event, a UUID.")
        private UUID id;

        @Option(names = "--key", description = "The event's key, if it is in no table any more: one partition is read.")
        private @Nullable String key;

        @Override
        EventQuery query(@Nullable String topicOfEvent, Since from) {
            return new EventQuery(id, topicOfEvent, key, from.time(), from.age(), 1);
        }

        @Override
        String json(EventAnswer answer) {
            return EventJson.one(answer).build().toString();
        }

        @Override
        Stream<String> text(EventAnswer answer) {
            return EventText.page(answer);
        }
    }
}
