package dev.twinbox.console.actions;

/**
 * Who changes something, as it is recorded.
 *
 * @param who the token's name, or the users of the database and of the operating system
 * @param via how it was asked for: {@code http} or {@code command-line}
 */
public record Actor(String who, String via) {
    private static final int LONGEST_USER = 100;

    /** Whoever sent the token of this name. */
    public static Actor overHttp(String token) {
        return new Actor(token, "http");
    }

    /**
     * The user that runs this process.
     *
     * @param sessionUser the name under which the process has logged in to the database
     */
    public static Actor onCommandLine(String sessionUser) {
        String user = System.getProperty("user.name", "?").replaceAll("\\p{Cc}", "?");
        String shown = user.length() <= LONGEST_USER ? user : user.substring(0, LONGEST_USER);
        return new Actor(sessionUser + " (" + shown + ")", "command-line");
    }
}
