/*
 * A library for LD_PRELOAD: appends each write, flush and change of a name below the folder TRACE_FOLDER to the file
 * TRACE_LOG, and each HTTP answer that the process sends. replay.ts reads the log.
 *
 * The call and its record share one lock of all processes: the order of the records is that of the calls. An answer is
 * recorded before it is sent: whatever is flushed later was not certain when its partner read it.
 *
 * The trace shows what the program asked the system to do. It cannot show that the system or the disk obeys: a disk that
 * reports a flush and loses it has the same trace. Not a flush, because the disk may still hold the data in its cache:
 * close, sync_file_range, msync, sync. Not recorded, but recognised, because the files of a replay differ: other ways to
 * change a file (sendfile, copy_file_range, io_uring). The WAL index (-shm) is rebuilt after a power cut: it is no data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Little-endian, as every machine is on which topupd runs. The path and the data follow. */
struct record {
  uint32_t path_bytes, data_bytes;
  uint64_t inode;
  /* Offset of a write, or size after a truncation. */
  int64_t at;
  /* Duration of a flush. */
  uint32_t micros;
  char kind;
  char unused[3];
};

#define REAL(name) ((__typeof__(&name))real(#name))
#define PATHS (2 * PATH_MAX)

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_bytes;
static int log_file = -1;
/* A flush takes at least this long, as on a disk: meanwhile requests gather for the next batch. */
static useconds_t flush_micros;

static void *real(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) abort();
  return found;
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("TRACE_LOG"), *micros = getenv("TRACE_FLUSH_MICROS");
  folder = getenv("TRACE_FOLDER");
  if (folder == NULL || path == NULL) abort();
  folder_bytes = strlen(folder);
  if (micros != NULL) flush_micros = (useconds_t)atoi(micros);
  log_file = REAL(open)(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
}

static int is_traced(const char *path) {
  size_t length = strlen(path);
  if (folder == NULL || strncmp(path, folder, folder_bytes) != 0) return 0;
  if (path[folder_bytes] != '/' && path[folder_bytes] != '\0') return 0;
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

/* The path of an open file or folder. @returns whether it is traced. */
static int path_of(int fd, char path[PATHS], struct stat *status) {
  char link[64];
  int error = errno;
  int is_file = fd >= 0 && fstat(fd, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode));
  ssize_t length = 0;
  if (is_file) {
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, PATHS - 1);
  }
  errno = error;
  if (length <= 0) return 0;
  path[length] = '\0';
  return is_traced(path);
}

/* The absolute path of a name, of which the last part need not exist and is not followed. @returns whether it is traced. */
static int path_at(int fd, const char *name, char path[PATHS]) {
  char parent[PATHS], whole[PATH_MAX];
  const char *slash = strrchr(name, '/');
  int error = errno, length;
  if (fd == AT_FDCWD || name[0] == '/') length = snprintf(parent, sizeof parent, "%s", slash == NULL ? "." : name);
  else length = snprintf(parent, sizeof parent, "/proc/self/fd/%d/%s", fd, slash == NULL ? "" : name);
  if (slash != NULL && length < (int)sizeof parent) strrchr(parent, '/')[slash == name ? 1 : 0] = '\0';
  int is_found = realpath(parent, whole) != NULL;
  errno = error;
  if (!is_found) return 0;
  snprintf(path, PATHS, "%s/%s", whole, slash == NULL ? name : slash + 1);
  return is_traced(path);
}

static void lock(void) {
  pthread_mutex_lock(&mutex);
  while (flock(log_file, LOCK_EX) != 0)
    if (errno != EINTR) abort();
}

static void unlock(void) {
  int error = errno;
  flock(log_file, LOCK_UN);
  pthread_mutex_unlock(&mutex);
  errno = error;
}

static void append(struct record record, const char *path, const struct iovec *data, int count) {
  int error = errno;
  struct iovec parts[IOV_MAX];
  size_t left = record.data_bytes, total = sizeof record;
  int used = 2;
  record.path_bytes = (uint32_t)strlen(path);
  parts[0] = (struct iovec){&record, sizeof record};
  parts[1] = (struct iovec){(void *)path, record.path_bytes};
  for (int index = 0; index < count && left > 0; index++) {
    size_t length = data[index].iov_len < left ? data[index].iov_len : left;
    if (used == IOV_MAX) abort();
    parts[used++] = (struct iovec){data[index].iov_base, length};
    left -= length;
  }
  total += record.path_bytes + record.data_bytes;
  if (REAL(writev)(log_file, parts, used) != (ssize_t)total) abort();
  errno = error;
}

/* Files */

static int opened(int fd, int flags) {
  char path[PATHS];
  struct stat status;
  if (fd >= 0 && (flags & (O_CREAT | O_TRUNC)) != 0 && path_of(fd, path, &status) && S_ISREG(status.st_mode))
    append((struct record){.kind = (flags & O_TRUNC) ? 'T' : 'o', .inode = status.st_ino}, path, NULL, 0);
  return fd;
}

#define OPEN(name)                                                      \
  int name(const char *file, int flags, ...) {                          \
    char path[PATHS];                                                   \
    mode_t mode = 0;                                                    \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(rest, mode_t);     \
    va_end(rest);                                                       \
    if (!path_at(AT_FDCWD, file, path)) return REAL(name)(file, flags, mode); \
    lock();                                                             \
    int fd = opened(REAL(name)(file, flags, mode), flags);              \
    unlock();                                                           \
    return fd;                                                          \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                    \
  int name(int at, const char *file, int flags, ...) {                  \
    char path[PATHS];                                                   \
    mode_t mode = 0;                                                    \
    va_list rest;                                                       \
    va_start(rest, flags);                                              \
    if (flags & (O_CREAT | O_TMPFILE)) mode = va_arg(rest, mode_t);     \
    va_end(rest);                                                       \
    if (!path_at(at, file, path)) return REAL(name)(at, file, flags, mode); \
    lock();                                                             \
    int fd = opened(REAL(name)(at, file, flags, mode), flags);          \
    unlock();                                                           \
    return fd;                                                          \
  }
OPENAT(openat)
OPENAT(openat64)

int creat(const char *file, mode_t mode) { return open(file, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *file, mode_t mode) { return open(file, O_CREAT | O_WRONLY | O_TRUNC, mode); }

static void answered(const struct stat *status, const struct iovec *data, int count) {
  size_t total = 0;
  if (!S_ISSOCK(status->st_mode) || count == 0 || data[0].iov_len < 7 || memcmp(data[0].iov_base, "HTTP/1.", 7) != 0) return;
  for (int index = 0; index < count; index++) total += data[index].iov_len;
  lock();
  append((struct record){.kind = 'a', .inode = status->st_ino, .data_bytes = (uint32_t)total}, "", data, count);
  unlock();
}

/* A write at an offset; at the file's own position if the offset is -1. */
#define WRITE(call, fd, data, count, offset)                            \
  char path[PATHS];                                                     \
  struct stat status;                                                   \
  status.st_mode = 0;                                                   \
  if (!path_of(fd, path, &status)) {                                    \
    answered(&status, data, count);                                     \
    return call;                                                        \
  }                                                                     \
  lock();                                                               \
  ssize_t written = call;                                               \
  int64_t at = offset;                                                  \
  if (written > 0 && at < 0) at = lseek(fd, 0, SEEK_CUR) - written;     \
  if (written > 0)                                                      \
    append((struct record){.kind = 'w', .inode = status.st_ino, .at = at, .data_bytes = (uint32_t)written}, path, data, count); \
  unlock();                                                             \
  return written;

ssize_t write(int fd, const void *bytes, size_t length) {
  struct iovec data = {(void *)bytes, length};
  WRITE(REAL(write)(fd, bytes, length), fd, &data, 1, -1)
}

ssize_t writev(int fd, const struct iovec *data, int count) {
  WRITE(REAL(writev)(fd, data, count), fd, data, count, -1)
}

#define PWRITE(name)                                                    \
  ssize_t name(int fd, const void *bytes, size_t length, off_t offset) { \
    struct iovec data = {(void *)bytes, length};                        \
    WRITE(REAL(name)(fd, bytes, length, offset), fd, &data, 1, offset)  \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

#define PWRITEV(name)                                                   \
  ssize_t name(int fd, const struct iovec *data, int count, off_t offset) { \
    WRITE(REAL(name)(fd, data, count, offset), fd, data, count, offset) \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)

#define TRUNCATE(name)                                                  \
  int name(int fd, off_t size) {                                        \
    char path[PATHS];                                                   \
    struct stat status;                                                 \
    if (!path_of(fd, path, &status)) return REAL(name)(fd, size);       \
    lock();                                                             \
    int result = REAL(name)(fd, size);                                  \
    if (result == 0) append((struct record){.kind = 't', .inode = status.st_ino, .at = size}, path, NULL, 0); \
    unlock();                                                           \
    return result;                                                      \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

#define FLUSH(name)                                                     \
  int name(int fd) {                                                    \
    char path[PATHS];                                                   \
    struct stat status;                                                 \
    struct timespec before, after;                                      \
    if (!path_of(fd, path, &status)) return REAL(name)(fd);             \
    if (flush_micros > 0) usleep(flush_micros);                         \
    lock();                                                             \
    clock_gettime(CLOCK_MONOTONIC, &before);                            \
    int result = REAL(name)(fd);                                        \
    clock_gettime(CLOCK_MONOTONIC, &after);                             \
    int64_t nanos = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec; \
    struct record record = {.kind = S_ISDIR(status.st_mode) ? 'd' : 'f', .inode = status.st_ino, .micros = (uint32_t)(nanos / 1000)}; \
    if (result == 0) append(record, path, NULL, 0);                     \
    unlock();                                                           \
    return result;                                                      \
  }
FLUSH(fsync)
FLUSH(fdatasync)

#define MAP(name)                                                       \
  void *name(void *address, size_t length, int protection, int flags, int fd, off_t offset) { \
    char path[PATHS];                                                   \
    struct stat status;                                                 \
    if ((protection & PROT_WRITE) && (flags & MAP_SHARED) && path_of(fd, path, &status)) { \
      lock();                                                           \
      append((struct record){.kind = 'm', .inode = status.st_ino}, path, NULL, 0); \
      unlock();                                                         \
    }                                                                   \
    return REAL(name)(address, length, protection, flags, fd, offset);  \
  }
MAP(mmap)
MAP(mmap64)

/* Names */

#define REMOVE(call, at, file)                                          \
  char path[PATHS];                                                     \
  if (!path_at(at, file, path)) return call;                            \
  lock();                                                               \
  int result = call;                                                    \
  if (result == 0) append((struct record){.kind = 'u'}, path, NULL, 0); \
  unlock();                                                             \
  return result;

int unlink(const char *file) { REMOVE(REAL(unlink)(file), AT_FDCWD, file) }
int unlinkat(int at, const char *file, int flags) { REMOVE(REAL(unlinkat)(at, file, flags), at, file) }

/* The new name is the data of the record. A move into or out of the folder is not traced whole: the campaign refuses it. */
#define MOVE(mark, call, from_at, from, to_at, to)                      \
  char path[PATHS], target[PATHS];                                      \
  int is_from = path_at(from_at, from, path), is_to = path_at(to_at, to, target); \
  if (!is_from && !is_to) return call;                                  \
  lock();                                                               \
  int result = call;                                                    \
  struct iovec data = {target, strlen(target)};                         \
  if (result == 0)                                                      \
    append((struct record){.kind = is_from && is_to ? mark : 'm', .data_bytes = (uint32_t)data.iov_len}, path, &data, 1); \
  unlock();                                                             \
  return result;

int rename(const char *from, const char *to) { MOVE('r', REAL(rename)(from, to), AT_FDCWD, from, AT_FDCWD, to) }
int renameat(int a, const char *from, int b, const char *to) { MOVE('r', REAL(renameat)(a, from, b, to), a, from, b, to) }
int link(const char *from, const char *to) { MOVE('l', REAL(link)(from, to), AT_FDCWD, from, AT_FDCWD, to) }
int linkat(int a, const char *from, int b, const char *to, int flags) { MOVE('l', REAL(linkat)(a, from, b, to, flags), a, from, b, to) }
