package dev.twinbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlStateTest {

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
            08006 | transient outage
            08001 | transient outage
            40001 | transient
            40P01 | transient
            40002 |
            53300 | outage
            57P01 | transient outage
            57P03 | transient outage
            57014 | outage
            22001 | data
            22021 | data
            23505 | data
            23514 | data
            54000 | data
            28P01 | login
            3D000 | login
            3F000 | schema
            42P01 | schema
            42501 | schema
            25P02 |
            55P03 |
            XX000 |
            """)
    void aStateIsOfTheKindsThatDecideWhatHappensNext(String state, String kinds) {
        SQLException failure = new SQLException("x", state);

        StringBuilder found = new StringBuilder();
        found.append(SqlState.isBadData(failure) ? " data" : "");
        found.append(SqlState.isLoginRefused(failure) ? " login" : "");
        found.append(SqlState.isSchemaWrong(failure) ? " schema" : "");
        found.append(SqlState.isTransient(failure) ? " transient" : "");
        found.append(SqlState.isOutage(failure) ? " outage" : "");
        assertThat(found.toString().strip()).isEqualTo(kinds == null ? "" : kinds);
    }

    @Test
    void aFailureWithoutAStateIsAnOutageAndNothingElse() {
        SQLException failure = new SQLException("no free connection");

        assertThat(SqlState.isOutage(failure)).isTrue();
        assertThat(SqlState.isTransient(failure)).isFalse();
        assertThat(SqlState.isBadData(failure)).isFalse();
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
