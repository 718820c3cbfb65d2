package dev.twinbox.inbox;

/** Reports which optional APIs the server has. */
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
