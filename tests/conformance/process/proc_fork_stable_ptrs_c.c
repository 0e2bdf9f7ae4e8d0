#include <HsFFI.h>
#include <pthread.h>

static void *lock_and_unlock(void *unused) {
    for (;;) {
        hs_lock_stable_ptr_table();
        hs_unlock_stable_ptr_table();
    }
    return unused;
}

void start_locking(void) {
    pthread_t thread;
    pthread_create(&thread, 0, lock_and_unlock, 0);
}
