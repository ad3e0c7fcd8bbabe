#include <sqlite3.h>

/// `sqlite3_config` takes a variable list of arguments, which Swift cannot call.
static inline int purser_sqlite3_keep_no_memory_statistics(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
