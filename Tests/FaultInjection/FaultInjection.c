#define _GNU_SOURCE
#include "FaultInjection.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The step that was chosen, and how many times it may still pass.
static const char *chosen_step;
static size_t chosen_length;
static atomic_long times_left;

__attribute__((constructor)) static void read_choice(void) {
  const char *choice = getenv("CRASH_POINT");
  const char *colon = choice ? strrchr(choice, ':') : NULL;
  if (!colon) return;
  chosen_step = choice;
  chosen_length = (size_t)(colon - choice);
  atomic_store(&times_left, strtol(colon + 1, NULL, 10));
}

// SIGKILL, as any end with handlers or flushing would be kinder than a power cut.
static void pass(const char *step) {
  if (!chosen_step || strlen(step) != chosen_length) return;
  if (strncmp(step, chosen_step, chosen_length) != 0) return;
  if (atomic_fetch_sub(&times_left, 1) == 1) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

static int starts_with(const char *text, const char *prefix) {
  return text && strncmp(text, prefix, strlen(prefix)) == 0;
}

// Readers end their snapshots with COMMIT too; only the writer's counts.
static int is_writers(void *statement) {
  static void *(*handle_of)(void *);
  static int (*is_read_only)(void *, const char *);
  if (!handle_of) handle_of = (void *(*)(void *))dlsym(RTLD_NEXT, "sqlite3_db_handle");
  if (!is_read_only)
    is_read_only = (int (*)(void *, const char *))dlsym(RTLD_NEXT, "sqlite3_db_readonly");
  return handle_of && is_read_only && is_read_only(handle_of(statement), "main") == 0;
}

__attribute__((visibility("default"))) int sqlite3_step(void *statement) {
  static int (*real_step)(void *);
  static const char *(*text_of)(void *);
  if (!real_step) real_step = (int (*)(void *))dlsym(RTLD_NEXT, "sqlite3_step");
  if (!text_of) text_of = (const char *(*)(void *))dlsym(RTLD_NEXT, "sqlite3_sql");
  if (!chosen_step) return real_step(statement);

  const char *text = text_of(statement);
  int is_commit = starts_with(text, "COMMIT") && is_writers(statement);
  int is_removal = starts_with(text, "DELETE FROM outbox");
  if (is_commit) pass("before-commit");
  if (is_removal) pass("before-removal");
  int code = real_step(statement);
  if (is_commit) pass("after-commit");
  if (is_removal) pass("after-removal");
  return code;
}

__attribute__((visibility("default"))) void *rd_kafka_produceva(
    void *client, const void *fields, size_t count) {
  static void *(*real_produce)(void *, const void *, size_t);
  if (!real_produce)
    real_produce =
        (void *(*)(void *, const void *, size_t))dlsym(RTLD_NEXT, "rd_kafka_produceva");
  void *fault = real_produce(client, fields, count);
  pass("after-produce");
  return fault;
}

// A broker that refuses a batch refuses what was sent behind it too, and librdkafka counts on that: an
// acknowledgement of a later batch is one of the earlier (`rd_kafka_dr_implicit_ack`). The mock cluster
// takes what is behind, so with it nothing may be.
__attribute__((visibility("default"))) void *rd_kafka_new(
    int type, void *settings, char *fault, size_t size) {
  static void *(*real_new)(int, void *, char *, size_t);
  static int (*set)(void *, const char *, const char *, char *, size_t);
  if (!real_new) real_new = (void *(*)(int, void *, char *, size_t))dlsym(RTLD_NEXT, "rd_kafka_new");
  if (!set)
    set = (int (*)(void *, const char *, const char *, char *, size_t))dlsym(
        RTLD_NEXT, "rd_kafka_conf_set");
  int is_producer = type == 0;
  if (is_producer && getenv("ONE_BATCH_IN_FLIGHT") &&
      set(settings, "max.in.flight", "1", fault, size) != 0)
    return NULL;
  return real_new(type, settings, fault, size);
}

static int is_raised(const char *name) {
  const char *flag = getenv(name);
  return flag && access(flag, F_OK) == 0;
}

// The fault of the disk for a file, or 0: the file is one of SQLite's, and the flag is there.
static int fault_for(int descriptor) {
  int fault = is_raised("DISK_FULL_FILE") ? ENOSPC : is_raised("DISK_READ_ONLY_FILE") ? EROFS : 0;
  if (!fault) return 0;
  char link[64];
  char path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strstr(path, ".sqlite") != NULL ? fault : 0;
}

// Nothing can be opened for writing where nothing can be written.
static int refuses_to_open(const char *path, int flags) {
  if ((flags & O_ACCMODE) == O_RDONLY || !path || !strstr(path, ".sqlite")) return 0;
  return is_raised("DISK_READ_ONLY_FILE");
}

__attribute__((visibility("default"))) int open64(const char *path, int flags, ...) {
  static int (*real_open)(const char *, int, ...);
  if (!real_open) real_open = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (refuses_to_open(path, flags)) {
    errno = EROFS;
    return -1;
  }
  return real_open(path, flags, mode);
}

__attribute__((visibility("default"))) ssize_t write(int descriptor, const void *bytes, size_t size) {
  static ssize_t (*real_write)(int, const void *, size_t);
  if (!real_write) real_write = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int fault = fault_for(descriptor);
  if (fault) {
    errno = fault;
    return -1;
  }
  return real_write(descriptor, bytes, size);
}

__attribute__((visibility("default"))) ssize_t pwrite(
    int descriptor, const void *bytes, size_t size, off_t offset) {
  static ssize_t (*real_write)(int, const void *, size_t, off_t);
  if (!real_write)
    real_write = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  int fault = fault_for(descriptor);
  if (fault) {
    errno = fault;
    return -1;
  }
  return real_write(descriptor, bytes, size, offset);
}

__attribute__((visibility("default"))) ssize_t pwrite64(
    int descriptor, const void *bytes, size_t size, off64_t offset) {
  static ssize_t (*real_write)(int, const void *, size_t, off64_t);
  if (!real_write)
    real_write = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
  int fault = fault_for(descriptor);
  if (fault) {
    errno = fault;
    return -1;
  }
  return real_write(descriptor, bytes, size, offset);
}
