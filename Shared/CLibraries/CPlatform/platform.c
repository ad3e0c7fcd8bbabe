#define _GNU_SOURCE
#include "CPlatform.h"
#include <pthread.h>
#include <spawn.h>
#include <string.h>

void purser_set_thread_name(const char *name) {
  char kept[16];
  strncpy(kept, name, sizeof kept - 1);
  kept[sizeof kept - 1] = 0;
  pthread_setname_np(pthread_self(), kept);
}

int purser_spawn_close_from(void *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
