#include "BenchBaselines.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <sqlite3.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double baseline_thread_seconds(void) { return now(CLOCK_THREAD_CPUTIME_ID); }

static EVP_PKEY *new_key(void) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    if (context && EVP_PKEY_keygen_init(context) == 1 &&
        EVP_PKEY_CTX_set_group_name(context, "P-256") == 1)
        EVP_PKEY_keygen(context, &key);
    EVP_PKEY_CTX_free(context);
    return key;
}

double baseline_p256_verify(double seconds) {
    unsigned char digest[32], signature[128];
    size_t length = sizeof signature;
    double rate = -1;
    memset(digest, 7, sizeof digest);
    EVP_PKEY *key = new_key();
    EVP_PKEY_CTX *signer = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
    EVP_PKEY_CTX *verifier = key ? EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL) : NULL;
    if (signer && verifier && EVP_PKEY_sign_init(signer) == 1 &&
        EVP_PKEY_sign(signer, signature, &length, digest, sizeof digest) == 1 &&
        EVP_PKEY_verify_init(verifier) == 1) {
        double began = baseline_thread_seconds(), took = 0;
        long count = 0;
        int good = 1;
        while (good && took < seconds) {
            for (int i = 0; good && i < 50; i++, count++)
                good = EVP_PKEY_verify(verifier, signature, length, digest, sizeof digest) == 1;
            took = baseline_thread_seconds() - began;
        }
        if (good) rate = (double)count / took;
    }
    EVP_PKEY_CTX_free(signer);
    EVP_PKEY_CTX_free(verifier);
    EVP_PKEY_free(key);
    return rate;
}

double baseline_sqlite_rows(
    const char *path, const char *schema, const char *sql, int rows, double seconds, double *cpu) {
    sqlite3 *store = NULL;
    sqlite3_stmt *begin = NULL, *insert = NULL, *commit = NULL;
    static const unsigned char key[16], value[480];
    long count = 0;
    int good = sqlite3_open_v2(path, &store,
                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK &&
               sqlite3_exec(store, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL", NULL, NULL, NULL) == SQLITE_OK &&
               sqlite3_exec(store, schema, NULL, NULL, NULL) == SQLITE_OK &&
               sqlite3_prepare_v2(store, "BEGIN IMMEDIATE", -1, &begin, NULL) == SQLITE_OK &&
               sqlite3_prepare_v2(store, sql, -1, &insert, NULL) == SQLITE_OK &&
               sqlite3_prepare_v2(store, "COMMIT", -1, &commit, NULL) == SQLITE_OK;
    double began = now(CLOCK_MONOTONIC), began_cpu = baseline_thread_seconds(), took = 0;
    while (good && took < seconds) {
        good = sqlite3_step(begin) == SQLITE_DONE;
        sqlite3_reset(begin);
        for (int i = 0; good && i < rows; i++, count++) {
            sqlite3_bind_blob(insert, 1, key, sizeof key, SQLITE_STATIC);
            sqlite3_bind_blob(insert, 2, value, sizeof value, SQLITE_STATIC);
            good = sqlite3_step(insert) == SQLITE_DONE;
            sqlite3_reset(insert);
        }
        good = good && sqlite3_step(commit) == SQLITE_DONE;
        sqlite3_reset(commit);
        took = now(CLOCK_MONOTONIC) - began;
    }
    if (good && count) *cpu = (baseline_thread_seconds() - began_cpu) / (double)count;
    sqlite3_finalize(begin);
    sqlite3_finalize(insert);
    sqlite3_finalize(commit);
    sqlite3_close(store);
    return good && count ? (double)count / took : -1;
}
