package dev.twinbox.proof.servers.app;

import jakarta.persistence.EntityManager;
import jakarta.persistence.PersistenceContext;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** {@code GET state}: 200 when the application is deployed, and one line: JDK; JPA provider. */
@WebServlet("/state")
public class StateServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @PersistenceContext
    private EntityManager entities;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        Package provider = entities.getDelegate().getClass().getPackage();
        String name = provider.getName().startsWith("org.hibernate") ? "Hibernate" : "EclipseLink";
        String version = provider.getImplementationVersion();
        response.getWriter()
                .print("JDK " + Runtime.version().feature() + "; " + name + (version == null ? "" : " " + version));
    }
}
