/* Loaded before the C library: the n-th call that changes a file below a folder is killed, torn or fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT_ONLY, KILL_BEFORE, KILL_AFTER, TORN, DISK_FULL, IO_ERROR };

static char folder[PATH_MAX];
static int wanted, how;
static atomic_int n_calls;

void fault_arm(int number, int kind, const char *below) {
    strncpy(folder, below, sizeof folder - 1);
    wanted = number; how = kind; n_calls = 0;
}
int fault_calls(void) { return n_calls; }

static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

static int below(const char *path) {
    char whole[PATH_MAX];
    if (!folder[0] || !path) return 0;
    if (path[0] != '/') { if (!getcwd(whole, sizeof whole)) return 0; path = whole; }
    return strncmp(path, folder, strlen(folder)) == 0;
}
static int is_below(int fd) {
    char link[64], path[PATH_MAX];
    if (!folder[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}
/* 0: go on; 1: fail with errno; 2: do it and die; 3: do half of it and die */
static int judge(int takes_room) {
    int number = ++n_calls;
    if (how == DISK_FULL && wanted && number >= wanted && takes_room) { errno = ENOSPC; return 1; }
    if (number != wanted) return 0;
    switch (how) {
        case KILL_BEFORE: die();
        case KILL_AFTER: return 2;
        case TORN: return 3;
        case IO_ERROR: errno = EIO; return 1;
    }
    return 0;
}
#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)
#define GUARDED(ours, room, call) \
    int verdict = (ours) ? judge(room) : 0; \
    if (verdict == 1) return -1; \
    if (verdict == 3) die(); \
    __typeof__(call) result = (call); \
    if (verdict == 2) die(); \
    return result

ssize_t write(int fd, const void *data, size_t n) {
    REAL(write);
    int verdict = is_below(fd) ? judge(1) : 0;
    if (verdict == 1) return -1;
    if (verdict == 3) { real(fd, data, n / 2); die(); }
    ssize_t done = real(fd, data, n);
    if (verdict == 2) die();
    return done;
}
ssize_t writev(int fd, const struct iovec *parts, int n) { REAL(writev); GUARDED(is_below(fd), 1, real(fd, parts, n)); }
ssize_t pwrite64(int fd, const void *data, size_t n, off64_t at) { REAL(pwrite64); GUARDED(is_below(fd), 1, real(fd, data, n, at)); }
int fsync(int fd) { REAL(fsync); GUARDED(is_below(fd), 1, real(fd)); }
int fdatasync(int fd) { REAL(fdatasync); GUARDED(is_below(fd), 1, real(fd)); }
int ftruncate64(int fd, off64_t n) { REAL(ftruncate64); GUARDED(is_below(fd), 0, real(fd, n)); }
int fchmod(int fd, mode_t mode) { REAL(fchmod); GUARDED(is_below(fd), 0, real(fd, mode)); }
int rename(const char *a, const char *b) { REAL(rename); GUARDED(below(b), 0, real(a, b)); }
int renameat(int f, const char *a, int g, const char *b) { REAL(renameat); GUARDED(below(b), 0, real(f, a, g, b)); }
int link(const char *a, const char *b) { REAL(link); GUARDED(below(b), 1, real(a, b)); }
int unlink(const char *a) { REAL(unlink); GUARDED(below(a), 0, real(a)); }

#define OPENING(name, ...) \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); } \
    int makes = (flags & O_CREAT) && below(path); \
    GUARDED(makes, 1, real(__VA_ARGS__, mode))
int open(const char *path, int flags, ...) { REAL(open); OPENING(open, path, flags); }
int open64(const char *path, int flags, ...) { REAL(open64); OPENING(open64, path, flags); }
int openat(int at, const char *path, int flags, ...) { REAL(openat); OPENING(openat, at, path, flags); }
int openat64(int at, const char *path, int flags, ...) { REAL(openat64); OPENING(openat64, at, path, flags); }
