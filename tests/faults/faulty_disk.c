/* A disk that fails when it is told to: loaded before the C library (LD_PRELOAD), it counts the calls that touch files
 * of one folder, and at one of them kills the process, tears the write, or answers as a full or broken disk does.
 *
 * gcc -shared -fPIC -O1 -o faulty_disk.so faulty_disk.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum fault { COUNT, KILL_BEFORE, KILL_AFTER, TORN, SHORT, FULL, BROKEN };
enum touch { READS, CHANGES, NEEDS_ROOM };  /* what a call does to the disk */
enum order { GO_ON, FAIL, HALF };

static char folder[PATH_MAX];
static size_t length;
static long place = -1, seen;
static enum fault fault;
static int log_file = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int kill_now;

/* From now on, the call of this number, from 0, to files of this folder meets the fault; log: a file for all calls. */
void faulty_disk_arm(const char *where, long at, int which, const char *log) {
    log_file = log ? (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    strncpy(folder, where, sizeof folder - 1);
    length = strlen(folder);
    fault = which;
    seen = 0;
    place = at;
}

static int is_inside(const char *path) {
    char resolved[PATH_MAX];
    if (!length || !path) return 0;
    if (path[0] != '/') {
        ssize_t n = syscall(SYS_readlink, "/proc/self/cwd", resolved, sizeof resolved - 1);
        if (n < 0) return 0;
        resolved[n] = 0;
        path = resolved;
    }
    return !strncmp(path, folder, length);
}

static int is_inside_at(int directory, const char *path, char *told) {
    char link[64];
    ssize_t n;
    if (path && (directory == AT_FDCWD || path[0] == '/')) {
        snprintf(told, PATH_MAX, "%s", path);
        return is_inside(path);
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    n = syscall(SYS_readlink, link, told, PATH_MAX - 1);
    if (n < 0) return 0;
    told[n] = 0;
    return is_inside(told);
}

static enum order order_of(const char *name, enum touch touch, const char *path) {
    enum order order = GO_ON;
    pthread_mutex_lock(&mutex);
    long number = seen++;
    if (log_file >= 0) {
        char line[PATH_MAX + 100];
        int n = snprintf(line, sizeof line, "%s %d %s\n", name, touch, path);
        syscall(SYS_write, log_file, line, n);
    }
    if (number == place) {
        if (fault == KILL_BEFORE) syscall(SYS_kill, getpid(), SIGKILL);
        if (fault == KILL_AFTER) kill_now = 1;
        if (fault == TORN) { kill_now = 1; order = HALF; }
        if (fault == SHORT) order = HALF;
        if (fault == BROKEN) { errno = EIO; order = FAIL; }
    }
    if (fault == FULL && number >= place && touch == NEEDS_ROOM) { errno = ENOSPC; order = FAIL; }
    pthread_mutex_unlock(&mutex);
    return order;
}

static void after(void) {
    if (kill_now) syscall(SYS_kill, getpid(), SIGKILL);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FACED(inside, name, touch, path, call) \
    do { \
        if (!length || !(inside)) return call; \
        if (order_of(name, touch, path) == FAIL) return -1; \
        __typeof__(call) result = call; \
        after(); \
        return result; \
    } while (0)

static enum touch touch_of(int flags) {
    if (flags & O_CREAT) return NEEDS_ROOM;
    return flags & O_TRUNC ? CHANGES : READS;
}

#define OPENED(function) \
    int function(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, int); va_end(rest); \
        FACED(is_inside(path), "open", touch_of(flags), path, REAL(function)(path, flags, mode)); \
    }
OPENED(open)
OPENED(open64)

#define OPENED_AT(function) \
    int function(int at, const char *path, int flags, ...) { \
        char told[PATH_MAX]; \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, int); va_end(rest); \
        FACED(is_inside_at(at, path, told), "open", touch_of(flags), told, REAL(function)(at, path, flags, mode)); \
    }
OPENED_AT(openat)
OPENED_AT(openat64)

/* Half of a write reaches the disk when the process dies in it; or is all that the disk takes at once. */
ssize_t write(int file, const void *content, size_t n) {
    char told[PATH_MAX];
    if (!length || !is_inside_at(file, NULL, told)) return REAL(write)(file, content, n);
    enum order order = order_of("write", NEEDS_ROOM, told);
    if (order == FAIL) return -1;
    ssize_t written = REAL(write)(file, content, order == HALF && n > 1 ? n / 2 : n);
    after();
    return written;
}

#define ON_FILE(kind, function, name, touch, parameters, arguments) \
    kind function parameters { \
        char told[PATH_MAX]; \
        FACED(is_inside_at(file, NULL, told), name, touch, told, REAL(function) arguments); \
    }
ON_FILE(ssize_t, pwrite, "write", NEEDS_ROOM, (int file, const void *content, size_t n, off_t at), (file, content, n, at))
ON_FILE(ssize_t, pwrite64, "write", NEEDS_ROOM, (int file, const void *content, size_t n, off64_t at), (file, content, n, at))
ON_FILE(ssize_t, writev, "write", NEEDS_ROOM, (int file, const struct iovec *parts, int n), (file, parts, n))
ON_FILE(ssize_t, read, "read", READS, (int file, void *content, size_t n), (file, content, n))
ON_FILE(ssize_t, pread, "read", READS, (int file, void *content, size_t n, off_t at), (file, content, n, at))
ON_FILE(ssize_t, pread64, "read", READS, (int file, void *content, size_t n, off64_t at), (file, content, n, at))
ON_FILE(int, fsync, "fsync", NEEDS_ROOM, (int file), (file))
ON_FILE(int, fdatasync, "fsync", NEEDS_ROOM, (int file), (file))
ON_FILE(int, ftruncate, "truncate", CHANGES, (int file, off_t n), (file, n))
ON_FILE(int, ftruncate64, "truncate", CHANGES, (int file, off64_t n), (file, n))
ON_FILE(int, fchmod, "chmod", CHANGES, (int file, mode_t mode), (file, mode))
ON_FILE(int, fchown, "chown", CHANGES, (int file, uid_t owner, gid_t group), (file, owner, group))
ON_FILE(int, fallocate, "allocate", NEEDS_ROOM, (int file, int mode, off_t at, off_t n), (file, mode, at, n))

int rename(const char *from, const char *to) { FACED(is_inside(to), "rename", CHANGES, to, REAL(rename)(from, to)); }
int renameat(int a, const char *from, int b, const char *to) {
    char told[PATH_MAX];
    FACED(is_inside_at(b, to, told), "rename", CHANGES, told, REAL(renameat)(a, from, b, to));
}
int unlink(const char *path) { FACED(is_inside(path), "unlink", CHANGES, path, REAL(unlink)(path)); }
int unlinkat(int at, const char *path, int flags) {
    char told[PATH_MAX];
    FACED(is_inside_at(at, path, told), "unlink", CHANGES, told, REAL(unlinkat)(at, path, flags));
}
int rmdir(const char *path) { FACED(is_inside(path), "rmdir", CHANGES, path, REAL(rmdir)(path)); }
int mkdir(const char *path, mode_t mode) { FACED(is_inside(path), "mkdir", NEEDS_ROOM, path, REAL(mkdir)(path, mode)); }
int mkdirat(int at, const char *path, mode_t mode) {
    char told[PATH_MAX];
    FACED(is_inside_at(at, path, told), "mkdir", NEEDS_ROOM, told, REAL(mkdirat)(at, path, mode));
}
