package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** Takes a lock, and writes into two databases under it. */
@WebServlet("/hunt")
public class HuntXaServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @Inject
    KeyLocks locks;

    @Inject
    TwoEffects two;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String key = request.getParameter("key");
        String answer;
        Optional<KeyLock> lock = locks.tryLock(key, Duration.ofMillis(1));
        if (lock.isEmpty()) {
            answer = "empty";
        } else {
            try {
                two.write(key, lock.get());
                answer = "done";
            } catch (Exception e) {
                answer = "failed: " + e + " " + e.getCause();
            }
        }
        response.getWriter().println(answer.replace('\n', ' '));
    }
}
