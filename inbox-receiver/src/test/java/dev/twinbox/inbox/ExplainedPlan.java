package dev.twinbox.inbox;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** The plan and the page counts of a statement, exactly as the code prepares it. */
public final class ExplainedPlan {

    private ExplainedPlan() {}

    /** The code that runs the statement. */
    public interface Work {
        void on(Connection connection) throws SQLException;
    }

    /**
     * Runs the statement and returns its plan.
     *
     * @param answer a query whose rows the code gets instead of the statement's rows
     */
    public static String of(Connection connection, String answer, Work work) throws SQLException {
        StringBuilder plan = new StringBuilder();
        Connection explaining = (Connection) Proxy.newProxyInstance(
                ExplainedPlan.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("prepareStatement")) {
                        return explaining(connection.prepareStatement(explained((String) arguments[0])), answer, plan);
                    }
                    return method.invoke(connection, arguments);
                });
        work.on(explaining);
        return plan.toString();
    }

    /** Puts the explain command before the comment that starts each statement, so after a setting. */
    private static String explained(String sql) {
        return sql.replaceFirst("--", "explain (analyze, buffers, costs off)\n--");
    }

    private static PreparedStatement explaining(PreparedStatement statement, String answer, StringBuilder plan) {
        return (PreparedStatement) Proxy.newProxyInstance(
                ExplainedPlan.class.getClassLoader(),
                new Class<?>[] {PreparedStatement.class},
                (proxy, method, arguments) -> {
                    boolean query = method.getName().equals("executeQuery");
                    // Only the first statement is explained. What follows it in one text has its own result.
                    if (plan.isEmpty() && (query || method.getName().equals("getResultSet"))) {
                        try (ResultSet rows = query ? statement.executeQuery() : statement.getResultSet()) {
                            while (rows.next()) {
                                plan.append(rows.getString(1)).append('\n');
                            }
                        }
                        return statement.getConnection().createStatement().executeQuery(answer);
                    }
                    return method.invoke(statement, arguments);
                });
    }

    /** Pages read by the whole statement. */
    public static long buffers(String plan) {
        String line =
                plan.lines().filter(l -> l.contains("Buffers:")).findFirst().orElseThrow();
        long pages = 0;
        for (String word : line.split(" ")) {
            if (word.startsWith("hit=") || word.startsWith("read=")) {
                pages += Long.parseLong(word.substring(word.indexOf('=') + 1));
            }
        }
        return pages;
    }
}
