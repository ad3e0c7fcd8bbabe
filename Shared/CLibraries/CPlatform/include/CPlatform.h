#ifndef PURSER_CPLATFORM_H
#define PURSER_CPLATFORM_H

// What Swift's Glibc module does not show.

/// Names the calling thread for debuggers, `top -H` and `/proc`. At most 15 bytes are kept.
void purser_set_thread_name(const char *name);

/// Lets a child that is started with these posix_spawn_file_actions_t close all descriptors from the first on.
int purser_spawn_close_from(void *actions, int first);

#endif
