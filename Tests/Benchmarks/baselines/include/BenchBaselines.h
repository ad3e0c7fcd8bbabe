#ifndef BENCH_BASELINES_H
#define BENCH_BASELINES_H

/// What the libraries do by themselves, in plain C: the limits that figures are measured against.

/// CPU seconds that this thread has used.
double baseline_thread_seconds(void);

/// P-256 verifications of one signature over one digest by a reused context (`EVP_PKEY_verify`).
///
/// Returns verifications per CPU second of this thread over about `seconds`; negative on failure.
double baseline_p256_verify(double seconds);

/// Rows that one thread commits with `journal_mode=WAL` and `synchronous=FULL`.
///
/// `sql` makes one row of two blobs; it runs `rows` times between BEGIN IMMEDIATE and COMMIT. Returns
/// rows per second over about `seconds`; negative on failure. `cpu` gets CPU seconds per row.
double baseline_sqlite_rows(
    const char *path, const char *schema, const char *sql, int rows, double seconds, double *cpu);

#endif
