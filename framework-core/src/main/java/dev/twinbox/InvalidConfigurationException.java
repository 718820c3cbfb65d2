package dev.twinbox;

import java.util.List;

/** Configuration or annotated code that cannot work. It holds all problems, not just the first. */
public class InvalidConfigurationException extends TwinboxException {

    private static final long serialVersionUID = 1;

    private final List<String> problems;

    /**
     * @param subject what has the problems, for example {@code "Configuration of the outbox"}
     * @param problems one sentence each, with place, value and remedy; at least one
     */
    public InvalidConfigurationException(String subject, List<String> problems) {
        super(message(subject, problems));
        this.problems = List.copyOf(problems);
    }

    /** One sentence for each problem. */
    public List<String> problems() {
        return problems;
    }

    private static String message(String subject, List<String> problems) {
        if (problems.isEmpty()) {
            throw new IllegalArgumentException("no problem, no exception");
        }
        return subject + ": " + problems.size() + (problems.size() == 1 ? " problem" : " problems") + "\n  - "
                + String.join("\n  - ", problems);
    }
}
