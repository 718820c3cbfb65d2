package dev.twinbox.inbox.event;

import jakarta.ejb.ConcurrencyManagement;
import jakarta.ejb.ConcurrencyManagementType;
import jakarta.ejb.Lock;
import jakarta.ejb.LockType;
import jakarta.enterprise.inject.spi.AnnotatedMethod;
import jakarta.enterprise.inject.spi.AnnotatedType;
import jakarta.enterprise.inject.spi.SessionBeanType;
import org.jspecify.annotations.Nullable;

/** The lock with which the container calls a {@code @Singleton} EJB for one thread at a time. */
final class ContainerLock {

    /**
     * With the lock of the bean and the locks of rows, two workers can wait for each other. Neither the container nor the
     * database notices.
     */
    static final String BREACH = "its class is a @Singleton with the container's write lock, so only one worker can be "
            + "in it. Another one waits for it with row locks in its hands, and both may wait for ever; annotate the "
            + "method with @Lock(READ), use @Stateless, or set twinbox.inbox.workers=1";

    private ContainerLock() {}

    /** Whether the container lets only one thread into the method. */
    static boolean isExclusive(
            @Nullable SessionBeanType sessionBean, AnnotatedType<?> type, AnnotatedMethod<?> method) {
        if (sessionBean != SessionBeanType.SINGLETON) {
            return false;
        }
        ConcurrencyManagement management = type.getAnnotation(ConcurrencyManagement.class);
        if (management != null && management.value() == ConcurrencyManagementType.BEAN) {
            return false;
        }
        Lock lock = method.getAnnotation(Lock.class);
        if (lock == null) {
            // By the EJB specification, the lock of the class that declares the method counts.
            lock = method.getJavaMember().getDeclaringClass().getAnnotation(Lock.class);
        }
        return lock == null || lock.value() == LockType.WRITE;
    }
}
