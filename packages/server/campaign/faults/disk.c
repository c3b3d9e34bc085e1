/*
 * A library for LD_PRELOAD: makes writes and flushes below the folder FAULT_FOLDER fail as disk.ts says in the file
 * FAULT_FILE, which all processes map. The WAL index (-shm) is mapped memory: a disk fault does not reach it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What happens at a write (1 to 5) or a flush (6 to 10). disk.ts has the same numbers. */
enum { NOTHING, WRITE_FAILS, DISK_FULL, WRITE_SHORT, WRITE_KILLS, WRITE_FREEZES, FLUSH_FAILS, FLUSH_HANGS, FLUSH_KILLS, FLUSHED_KILLS, FLUSH_FREEZES };

/* Little-endian, as every machine is on which topupd runs. */
struct orders {
  _Atomic int what;
  /* How many writes or flushes still succeed, and how many then fail. */
  _Atomic int before, times;
  int hang_millis;
  /* How many have failed, and the last process that did. */
  _Atomic int struck, pid;
};

#define REAL(name) ((__typeof__(&name))real(#name))

static struct orders *orders;
static const char *folder;
static size_t folder_bytes;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULT_FILE");
  folder = getenv("FAULT_FOLDER");
  if (folder == NULL || path == NULL) abort();
  folder_bytes = strlen(folder);
  int file = open(path, O_RDWR | O_CLOEXEC);
  void *mapped = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) abort();
  close(file);
  orders = mapped;
}

static int is_below(int fd) {
  char link[64], path[PATH_MAX];
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  if (strncmp(path, folder, folder_bytes) != 0 || path[folder_bytes] != '/') return 0;
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

/* @returns what happens to this write or flush; NOTHING nearly always. */
static int fate(int fd, int first, int last) {
  int error = errno, what = orders == NULL ? NOTHING : orders->what;
  if (what < first || what > last || !is_below(fd)) {
    errno = error;
    return NOTHING;
  }
  errno = error;
  if (atomic_fetch_sub(&orders->before, 1) > 0 || atomic_fetch_sub(&orders->times, 1) <= 0) return NOTHING;
  orders->pid = getpid();
  orders->struck++;
  if (what == WRITE_KILLS || what == FLUSH_KILLS) raise(SIGKILL);
  if (what == WRITE_FREEZES || what == FLUSH_FREEZES) raise(SIGSTOP);
  return what;
}

static int fails(int error) {
  errno = error;
  return -1;
}

#define WRITE(name, parameters, arguments, shorter)                     \
  ssize_t name parameters {                                             \
    switch (fate(fd, WRITE_FAILS, WRITE_FREEZES)) {                     \
      case WRITE_FAILS: return fails(EIO);                              \
      case DISK_FULL: return fails(ENOSPC);                             \
      case WRITE_SHORT: return REAL(name) shorter;                      \
      default: return REAL(name) arguments;                             \
    }                                                                   \
  }
#define HALF(length) ((length) > 1 ? (length) / 2 : (length))
WRITE(write, (int fd, const void *bytes, size_t length), (fd, bytes, length), (fd, bytes, HALF(length)))
WRITE(pwrite, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at), (fd, bytes, HALF(length), at))
WRITE(pwrite64, (int fd, const void *bytes, size_t length, off_t at), (fd, bytes, length, at), (fd, bytes, HALF(length), at))

#define FLUSH(name)                                                     \
  int name(int fd) {                                                    \
    int what = fate(fd, FLUSH_FAILS, FLUSH_FREEZES);                    \
    if (what == FLUSH_FAILS) return fails(EIO);                         \
    if (what == FLUSH_HANGS) {                                          \
      struct timespec hang = {orders->hang_millis / 1000, orders->hang_millis % 1000 * 1000000L}; \
      nanosleep(&hang, NULL);                                           \
    }                                                                   \
    int result = REAL(name)(fd);                                        \
    if (what == FLUSHED_KILLS) raise(SIGKILL);                          \
    return result;                                                      \
  }
FLUSH(fsync)
FLUSH(fdatasync)
