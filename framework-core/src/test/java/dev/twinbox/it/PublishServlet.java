package dev.twinbox.it;

import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code GET publish?account=1}: 200 if the event has committed, otherwise 500 with the messages of the exceptions. */
@WebServlet("/publish")
public class PublishServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @Inject
    Publishing publishing;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            publishing.publish(Long.parseLong(request.getParameter("account")));
        } catch (RuntimeException e) {
            response.setStatus(500);
            for (Throwable t = e; t != null; t = t.getCause()) {
                response.getWriter().println(t);
            }
        }
    }
}
