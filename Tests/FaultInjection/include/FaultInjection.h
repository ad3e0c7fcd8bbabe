#ifndef FAULT_INJECTION_H
#define FAULT_INJECTION_H

// A library for LD_PRELOAD by which the fault tests have real, unchanged executables fail at chosen
// places. It stands in for a few functions and calls the real ones.
//
// CRASH_POINT names a step inside which the process is killed, and which time it is, as in
// `after-commit:17`:
//
//   before-commit   state, outbox rows and input positions are written, and nothing is committed
//   after-commit    all of it is committed, and nobody has heard of it
//   after-produce   a record was handed to librdkafka, and no broker has acknowledged it
//   before-removal  the broker has acknowledged records whose rows are still in the outbox
//   after-removal   their rows are removed, and that is not committed
//
// DISK_FULL_FILE names a file; while it is there, the disk is full for everything that SQLite
// writes (ENOSPC). DISK_READ_ONLY_FILE does the same for a disk that takes no writes (EROFS).
//
// ONE_BATCH_IN_FLIGHT lets a producer send a batch only when the one before it is answered, as the mock
// cluster needs it when it answers with errors.

#endif
