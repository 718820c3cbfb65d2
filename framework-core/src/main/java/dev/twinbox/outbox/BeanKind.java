package dev.twinbox.outbox;

/** What a class is to the container. It decides which calls are intercepted and where a transaction comes from. */
enum BeanKind {
    /** CDI bean: transactional by {@code @Transactional}, else in its caller's transaction. */
    MANAGED_BEAN,
    /** EJB: public methods, transactional by default. */
    SESSION_BEAN
}
