/**
 * Settings: declared once, read and checked together.
 *
 * <p>A module declares each key as a constant, and all of them in one list, against which its documentation is checked:
 *
 * <pre>{@code
 * static final String PREFIX = "twinbox.relay.";
 * static final Setting<String> NAME = Setting.of(PREFIX + "name", "1 to 100 of …", "Names the lease.", Names::check)
 *     .withDefault("relay");
 * static final Setting<Duration> LEASE = Setting.duration(PREFIX + "lease", "PT2S", "PT10M", "How long …")
 *     .withDefault("PT5S");
 * static final Setting<Secret> PASSWORD = Setting.secret(PREFIX + "database.password", "Its password.").optional();
 * static final List<Setting<?>> ALL = List.of(NAME, LEASE, PASSWORD);
 * }</pre>
 *
 * It reads them, and makes its record when there is no problem:
 *
 * <pre>{@code
 * SettingsReader reader = new SettingsReader(config, System.getenv().keySet());
 * reader.read(ALL);
 * Optional<OutboxSchema> tables = TableSettings.read(reader);
 * Map<String, String> kafka = reader.readBelow(PREFIX + "kafka.", ProducerConfig.configNames());
 * reader.refuseUnknown(PREFIX);
 * reader.throwIfWrong("Configuration of the relay");
 * return new RelayConfig(reader.get(NAME), tables.orElseThrow(), reader.find(PASSWORD).orElse(null), kafka);
 * }</pre>
 */
@NullMarked
package dev.twinbox.config;

import org.jspecify.annotations.NullMarked;
