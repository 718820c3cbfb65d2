package dev.twinbox.proof.bench;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.ZoneOffset;
import java.util.Collections;

/** Writes events of a workload as rows of an event table, as an application does. */
record EventInsert(EventTable table, Workload workload, String topic) {

    private static final String INSERT = """
            -- bench: commit events
            insert into %s (%s) values %s""";

    String sql(int rows) {
        String values = String.join(", ", Collections.nCopies(rows, "(?, ?, ?, ?, ?, ?, ?, ?)"));
        return INSERT.formatted(table.table(), table.columns(), values);
    }

    /** @param first number of the first event */
    void bind(PreparedStatement insert, int first, int rows) throws SQLException {
        int parameter = 1;
        for (int number = first; number < first + rows; number++) {
            insert.setObject(parameter++, workload.id(number));
            insert.setString(parameter++, topic);
            insert.setString(parameter++, workload.key(number));
            insert.setString(parameter++, Workload.TYPE);
            insert.setString(parameter++, Workload.SOURCE);
            insert.setObject(parameter++, workload.time(number).atOffset(ZoneOffset.UTC));
            insert.setString(parameter++, Workload.CONTENT_TYPE);
            insert.setBytes(parameter++, workload.payload(number));
        }
    }
}
