package dev.twinbox.proof.servers.plain;

import jakarta.ejb.EJB;
import jakarta.json.bind.spi.JsonbProvider;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * {@code GET change?ref=…&commit=true}: 200. With {@code row=false} it only publishes. {@code GET change} alone says
 * which JSON-B the application has.
 */
@WebServlet("/change")
public class DeskServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @EJB
    private Desk desk;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        String ref = request.getParameter("ref");
        if ("false".equals(request.getParameter("row"))) {
            desk.announce(ref);
        } else if (ref != null) {
            desk.change(ref, Boolean.parseBoolean(request.getParameter("commit")));
        } else {
            response.getWriter().print(JsonbProvider.provider().getClass().getName());
        }
    }
}
