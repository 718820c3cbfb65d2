package dev.twinbox.inbox;

/** Which APIs the server has that the receiver can do without. */
final class ServerApis {

    private ServerApis() {}

    /** @param type name of a class of the API */
    static boolean has(String type) {
        try {
            Class.forName(type, false, ServerApis.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException e) {
            return false;
        }
    }
}
