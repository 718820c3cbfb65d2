package dev.twinbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlStateTest {

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
            08006 | CONNECTION outage
            08001 | CONNECTION outage
            25006 | CONNECTION
            25P03 | CONNECTION
            25P04 | CONNECTION
            40001 | MOMENT conflict
            40P01 | MOMENT conflict
            40002 | MOMENT
            53300 | MOMENT outage
            55P03 | MOMENT
            57P01 | CONNECTION outage
            57P03 | CONNECTION outage
            57014 | UNKNOWN outage
            22001 | EVENT
            22021 | EVENT
            23505 | EVENT
            23514 | EVENT
            54000 | EVENT
            28P01 | CONFIGURATION login
            3D000 | CONFIGURATION login
            3F000 | CONFIGURATION schema
            42P01 | CONFIGURATION schema
            42501 | CONFIGURATION schema
            25P02 | UNKNOWN
            P0001 | UNKNOWN
            XX000 | UNKNOWN
            """)
    void aStateIsOfTheKindsThatDecideWhatHappensNext(String state, String kinds) {
        SQLException failure = new SQLException("x", state);

        StringBuilder found = new StringBuilder(SqlState.subjectOf(failure).name());
        found.append(SqlState.isLoginRefused(failure) ? " login" : "");
        found.append(SqlState.isSchemaWrong(failure) ? " schema" : "");
        found.append(SqlState.isConflict(failure) ? " conflict" : "");
        found.append(SqlState.isOutage(failure) ? " outage" : "");
        assertThat(found.toString()).isEqualTo(kinds);
    }

    @Test
    void aFailureWithoutAStateIsAnOutageAndNothingElse() {
        SQLException failure = new SQLException("no free connection");

        assertThat(SqlState.isOutage(failure)).isTrue();
        assertThat(SqlState.subjectOf(failure)).isEqualTo(FailureSubject.UNKNOWN);
        assertThat(SqlState.isLoginRefused(failure)).isFalse();
        assertThat(SqlState.isSchemaWrong(failure)).isFalse();
    }

    @Test
    void theFirstCauseThatHasAStateDecidesAboutAnOutage() {
        SQLException refused = new SQLException("password", "28P01");
        SQLException away = new SQLException("refused", "08001");

        assertThat(SqlState.isOutage(new SQLException("pool", new RuntimeException(refused))))
                .isFalse();
        assertThat(SqlState.isOutage(new SQLException("pool", new RuntimeException(away))))
                .isTrue();
    }

    @Test
    void aConstantIsAClassOrOneStateOfIt() {
        SQLException failure = new SQLException("x", "42501");

        assertThat(SqlState.INSUFFICIENT_PRIVILEGE.isOf(failure)).isTrue();
        assertThat(SqlState.SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION.isOf(failure)).isTrue();
        assertThat(SqlState.INVALID_TABLE_DEFINITION.isOf(failure)).isFalse();
        assertThat(SqlState.INVALID_TABLE_DEFINITION.code()).isEqualTo("42P16");
    }
}
