package dev.twinbox.proof.servers.app;

import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/** {@code GET jmx}: a line {@code name attribute=value} for each attribute of Twinbox's beans on this server. */
@WebServlet("/jmx")
public class JmxServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        PrintWriter out = response.getWriter();
        try {
            for (ObjectName name : server.queryNames(new ObjectName("dev.twinbox:*"), null)) {
                for (MBeanAttributeInfo each : server.getMBeanInfo(name).getAttributes()) {
                    out.println(name + " " + each.getName() + "=" + server.getAttribute(name, each.getName()));
                }
            }
        } catch (JMException e) {
            throw new ServletException(e);
        }
    }
}
