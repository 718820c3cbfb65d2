package dev.twinbox;

/**
 * Names of the Kafka headers that carry an event's attributes: CloudEvents 1.0, Kafka protocol binding, binary content
 * mode. All values are UTF-8 text.
 *
 * @see <a href="https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/kafka-protocol-binding.md">Kafka
 *     protocol binding</a>
 */
public final class CloudEventHeaders {

    /** Prefix of all CloudEvents attributes; reserved: an application cannot set headers that start with it. */
    public static final String PREFIX = "ce_";

    /** Always {@link #SPEC_VERSION_1_0}. */
    public static final String SPEC_VERSION = "ce_specversion";

    /** Value of {@link #SPEC_VERSION}. */
    public static final String SPEC_VERSION_1_0 = "1.0";

    /** Unique id of the event, a UUID of version 7; the same at every redelivery. */
    public static final String ID = "ce_id";

    /** Logical name of the event, for example {@code order.placed}. */
    public static final String TYPE = "ce_type";

    /** URI-reference of the producing service. */
    public static final String SOURCE = "ce_source";

    /** When the event was published, RFC 3339 in UTC. */
    public static final String TIME = "ce_time";

    /** The object within the source that the event is about; optional. */
    public static final String SUBJECT = "ce_subject";

    /** The record key again (extension "Partitioning"); absent when there is no key. */
    public static final String PARTITION_KEY = "ce_partitionkey";

    /** Media type of the record's value (attribute {@code datacontenttype}). */
    public static final String CONTENT_TYPE = "content-type";

    /**
     * Id of the event in whose handler this one was published (extension "Correlation"). Twinbox sets it unless the
     * application has set it.
     */
    public static final String CAUSATION_ID = "ce_causationid";

    /**
     * Id shared by all events that follow from one first event (extension "Correlation"). Twinbox sets it on events
     * published in a handler, unless the application has set it. It is that of the handled event, or the handled
     * event's id if that has none.
     */
    public static final String CORRELATION_ID = "ce_correlationid";

    /** Trace context of W3C, by the name that OpenTelemetry reads and writes; passed on from event to event. */
    public static final String TRACE_PARENT = "traceparent";

    /** Goes with {@link #TRACE_PARENT}. */
    public static final String TRACE_STATE = "tracestate";

    private CloudEventHeaders() {}

    /** Whether applications must not set a header of this name; case does not count. */
    public static boolean isReserved(String name) {
        if (name.equals(CAUSATION_ID) || name.equals(CORRELATION_ID)) {
            return false;
        }
        return name.regionMatches(true, 0, PREFIX, 0, PREFIX.length()) || name.equalsIgnoreCase(CONTENT_TYPE);
    }
}
