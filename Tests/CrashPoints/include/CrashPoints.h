#ifndef CRASH_POINTS_H
#define CRASH_POINTS_H

// A library for LD_PRELOAD that kills the process which loads it inside a chosen step, so that the
// fault tests can have real, unchanged executables die exactly there. CRASH_POINT names the step
// and which time it is, as in `after-commit:17`:
//
//   before-commit   state, outbox rows and input positions are written, and nothing is committed
//   after-commit    all of it is committed, and nobody has heard of it
//   after-produce   a record was handed to librdkafka, and no broker has acknowledged it
//   before-removal  the broker has acknowledged records whose rows are still in the outbox
//   after-removal   their rows are removed, and that is not committed
//
// It stands in for sqlite3_step and rd_kafka_produceva and calls the real ones. Without CRASH_POINT
// it does nothing else.

#endif
