package dev.twinbox.inbox.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class ErrorTextTest {

    @Test
    void classAndMessageOfTheCausesAreKept() {
        Exception thrown = new IllegalStateException("outer", new IOException("inner"));

        assertThat(ErrorText.of(thrown))
                .isEqualTo("java.lang.IllegalStateException: outer <- java.io.IOException: inner");
    }

    @Test
    void aLongMessageIsCutAtTheDocumentedLength() {
        String text = ErrorText.of(new IllegalStateException("x".repeat(100_000)));

        assertThat(text)
                .startsWith("java.lang.IllegalStateException: xxx")
                .endsWith("x…")
                .hasSize(2000);
    }

    @Test
    void whatPostgresCanNotStoreIsReplaced() {
        assertThat(ErrorText.of(new IllegalStateException("a\0b\ud83dc\ude00 \ud83d\ude00")))
                .isEqualTo("java.lang.IllegalStateException: a\ufffdb\ufffdc\ufffd \ud83d\ude00");
    }

    @Test
    void aPairThatIsCutInTwoIsNoLoneSurrogate() {
        int room = 2000 - "java.lang.IllegalStateException: ".length() - 2;

        String text = ErrorText.of(new IllegalStateException("x".repeat(room) + "\ud83d\ude00" + "x".repeat(10)));

        assertThat(text).endsWith("x\ufffd…").hasSize(2000);
    }

    @Test
    void noMessageACycleAndAMessageThatThrowsDoNoHarm() {
        Exception first = new Exception((String) null);
        Exception second = new Exception("second", first);
        first.initCause(second);
        Exception hostile = new Exception() {
            @Override
            public String getMessage() {
                throw new StackOverflowError();
            }
        };

        assertThat(ErrorText.of(first)).startsWith("java.lang.Exception <- java.lang.Exception: second <- ");
        assertThat(ErrorText.of(hostile))
                .contains("ErrorTextTest", "its message cannot be read, java.lang.StackOverflowError");
    }

    @Test
    void aLoggerCanPrintWhatHasHostileCode() {
        Exception hostile = new Exception() {
            @Override
            public String toString() {
                throw new StackOverflowError();
            }

            @Override
            public String getMessage() {
                throw new StackOverflowError();
            }

            @Override
            public StackTraceElement[] getStackTrace() {
                throw new IllegalStateException();
            }
        };
        StringWriter printed = new StringWriter();

        ErrorText.forLog(hostile).printStackTrace(new PrintWriter(printed));

        assertThat(printed.toString()).contains("ErrorTextTest", "its message cannot be read");
    }
}
