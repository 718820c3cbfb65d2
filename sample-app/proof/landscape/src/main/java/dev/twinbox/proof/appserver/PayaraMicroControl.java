package dev.twinbox.proof.appserver;

import fish.payara.micro.PayaraMicroRuntime;
import fish.payara.micro.boot.PayaraMicroLauncher;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The main of a {@link PayaraMicroServer}'s JVM. Payara Micro itself cannot deploy or undeploy while it runs. Whoever
 * connects to the control port sends one line, {@code deploy FILE} or {@code undeploy FILE}, and gets one as the answer.
 */
public final class PayaraMicroControl {

    static final String READY = "TWINBOX: Payara Micro can deploy";
    static final String DONE = "done";

    private PayaraMicroControl() {}

    /** Arguments: the control port, then those of Payara Micro. */
    public static void main(String[] arguments) throws Exception {
        PayaraMicroRuntime server = PayaraMicroLauncher.create(Arrays.copyOfRange(arguments, 1, arguments.length))
                .getRuntime();
        try (ServerSocket control =
                new ServerSocket(Integer.parseInt(arguments[0]), 5, InetAddress.getLoopbackAddress())) {
            System.out.println(READY);
            while (true) {
                try (Socket asked = control.accept();
                        BufferedReader in = reader(asked)) {
                    asked.getOutputStream()
                            .write((obey(server, in.readLine()) + "\n").getBytes(StandardCharsets.UTF_8));
                }
            }
        }
    }

    private static String obey(PayaraMicroRuntime server, String line) {
        File file = new File(line.substring(line.indexOf(' ') + 1));
        String name = file.getName().replace(".war", "");
        if (line.startsWith("undeploy ")) {
            server.undeploy(name);
            return DONE;
        }
        // Payara answers the same whether it could deploy something or not.
        server.deploy(name, name, file);
        return server.getDeployedApplicationNames().contains(name) ? DONE : "failed, see the server's log";
    }

    static String ask(int port, String command) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader answer = reader(socket)) {
            socket.getOutputStream().write((command + "\n").getBytes(StandardCharsets.UTF_8));
            String line = answer.readLine();
            return line == null ? "the server went away" : line;
        }
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    }
}
