// Lets the development broker wait, as Kafka does, when a Fetch finds nothing, and write all that it has
// only as often as a tenth of a core allows.
//
// noida-db 0.2.3 ignores `max_wait_ms` and answers an empty Fetch at once; so every idle consumer asks
// several thousand times a second and keeps a core busy on both sides. Loaded into the broker with
// LD_PRELOAD, this holds back a Fetch that asks for the same partitions at the same positions as the one
// before on that connection, until a request was answered that may have written to one of its topics, or
// until its `max_wait_ms` is over. The answer to such a Fetch could only have been the same empty one.
//
// The broker serves each connection by a thread of its own with blocking `recv` and `send`; one `recv`
// brings a whole request of a consumer, and the beginning of one of a producer. Whatever does not look like
// that is passed on untouched.
//
// Its thread `autosave` writes a snapshot of everything one second after the last one, so that after some
// ten thousand records it is never done, and takes 80 % of the broker's CPU. Here it sleeps nine times as
// long as a snapshot took, in pieces of its own second. An orderly end writes all, as before.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/// Kinds of requests (Kafka protocol guide, API keys).
enum {
    PRODUCE = 0,
    FETCH = 1,
    LIST_OFFSETS = 2,
    METADATA = 3,
    OFFSET_COMMIT = 8,
    OFFSET_FETCH = 9,
    HEARTBEAT = 12,
    API_VERSIONS = 18,
};

/// Topics fall into 32 classes by the hash of their name; a set of classes is a mask.
typedef uint32_t classes;
static const classes ALL = ~0u;

/// Grows with every answer to a request that may have written records or made them visible: for the classes
/// that it concerned, and for all together, which is what threads sleep on.
static _Atomic uint32_t written[32];
static _Atomic uint32_t writes;

static _Thread_local struct {
    int16_t key;
    /// What the answer to the request may show to others.
    classes written;
    /// Bytes of the request that are still to come.
    size_t rest;
    uint64_t fetch;
    uint64_t seen;
} last = {.key = -1};

static uint64_t writes_of(classes mask) {
    uint64_t sum = 0;
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1) sum += atomic_load(&written[i]);
    return sum;
}

static uint32_t number(const unsigned char *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint64_t hash(uint64_t seed, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) seed = (seed ^ bytes[i]) * 0x100000001b3;
    return seed ^ seed >> 29;
}

/// The hash of a topic's name as it stands in a request: length, bytes. 0 if it is not all there.
static uint64_t topic_at(const unsigned char *request, size_t length, size_t at, size_t *end) {
    if (at + 2 > length) return 0;
    size_t size = 2 + (size_t)(request[at] << 8 | request[at + 1]);
    if (at + size > length) return 0;
    *end = at + size;
    uint64_t name = hash(14695981039346656037u, request + at, size);
    return name ? name : 1;
}

static classes class_of(uint64_t topic) { return 1u << (topic >> 7) % 32; }

static size_t after_client(const unsigned char *request) {
    int16_t client = (int16_t)(request[12] << 8 | request[13]);
    return 14 + (client > 0 ? (size_t)client : 0);
}

/// What a Fetch of version 4 to 11 asks for, whatever the order of its partitions; 0 if it cannot be
/// read. `wait` gets its `max_wait_ms`, `mask` the classes of its topics.
///
/// Kafka protocol guide, Fetch Request: replica, max_wait_ms, min_bytes, max_bytes, isolation; from 7 on
/// a session of two numbers; topics with partitions of index, (9) epoch, offset, (5) log start, size.
static uint64_t asked(
    const unsigned char *request, size_t length, uint32_t *wait, classes *mask) {
    int version = request[6] << 8 | request[7];
    size_t at = after_client(request);
    size_t fixed = version >= 7 ? 25 : 17;
    size_t entry = (size_t)(4 + (version >= 9 ? 4 : 0) + 8 + (version >= 5 ? 8 : 0) + 4);
    if (version < 4 || version > 11 || at + fixed + 4 > length) return 0;
    *wait = number(request + at + 4);
    uint64_t sum = hash(14695981039346656037u, request + at, fixed);
    at += fixed;
    uint32_t topics = number(request + at);
    at += 4;
    while (topics-- > 0) {
        uint64_t topic = topic_at(request, length, at, &at);
        if (!topic || at + 4 > length) return 0;
        *mask |= class_of(topic);
        uint32_t partitions = number(request + at);
        at += 4;
        while (partitions-- > 0) {
            if (at + entry > length) return 0;
            sum += hash(topic, request + at, entry);
            at += entry;
        }
    }
    return sum ? sum : 1;
}

/// The class of the one topic that a Produce of version 3 to 8 writes to; all when it cannot be read.
///
/// Kafka protocol guide, Produce Request: transactional_id, acks, timeout_ms, topics.
static classes produced(const unsigned char *request, size_t length) {
    int version = request[6] << 8 | request[7];
    size_t at = after_client(request);
    if (version < 3 || version > 8 || at + 12 > length) return ALL;
    int16_t transaction = (int16_t)(request[at] << 8 | request[at + 1]);
    at += 2 + (transaction > 0 ? (size_t)transaction : 0) + 6;
    if (at + 4 > length || number(request + at) != 1) return ALL;
    uint64_t topic = topic_at(request, length, at + 4, &at);
    return topic ? class_of(topic) : ALL;
}

static void wait_for_write(classes mask, uint64_t seen, uint32_t milliseconds) {
    struct timespec until, now;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    for (;;) {
        uint32_t before = atomic_load(&writes);
        if (writes_of(mask) != seen) return;
        syscall(SYS_futex, &writes, FUTEX_WAIT_BITSET_PRIVATE, before, &until, NULL, mask);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec))
            return;
    }
}

static void wrote(classes mask) {
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1) atomic_fetch_add(&written[i], 1);
    atomic_fetch_add(&writes, 1);
    syscall(SYS_futex, &writes, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, mask);
}

ssize_t recv(int socket, void *buffer, size_t size, int flags) {
    static ssize_t (*real)(int, void *, size_t, int);
    if (!real) real = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    ssize_t length = real(socket, buffer, size, flags);
    const unsigned char *request = buffer;
    if (length <= 0 || flags & MSG_PEEK) return length;
    if (last.rest > 0) {
        // What comes with the end of one request is another, whose beginning is not looked at.
        if ((size_t)length > last.rest) last.written = ALL;
        last.rest = last.rest > (size_t)length ? last.rest - (size_t)length : 0;
        return length;
    }
    last.key = -1;
    last.written = ALL;
    if (length < 14) return length;
    size_t whole = (size_t)number(request) + 4;
    int16_t key = (int16_t)(request[4] << 8 | request[5]);
    if (key == PRODUCE && whole >= (size_t)length && whole < 1 << 27) {
        last.rest = whole - (size_t)length;
        last.key = key;
        last.written = produced(request, (size_t)length);
    }
    if (whole != (size_t)length) return length;
    last.key = key;
    if (last.key != FETCH) return length;
    uint32_t most = 0;
    classes mask = 0;
    uint64_t fetch = asked(request, (size_t)length, &most, &mask);
    if (fetch && fetch == last.fetch) wait_for_write(mask, last.seen, most < 30000 ? most : 30000);
    last.fetch = fetch;
    last.seen = writes_of(mask);
    return length;
}

/// Requests that only read or ask: their answers wake nobody.
static int only_reads(int16_t key) {
    return key == FETCH || key == LIST_OFFSETS || key == METADATA || key == OFFSET_COMMIT ||
           key == OFFSET_FETCH || key == HEARTBEAT || key == API_VERSIONS;
}

ssize_t send(int socket, const void *buffer, size_t size, int flags) {
    static ssize_t (*real)(int, const void *, size_t, int);
    if (!real) real = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    // Before the answer leaves, as whoever reads it may ask at once.
    if (!only_reads(last.key)) wrote(last.written);
    return real(socket, buffer, size, flags);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest) {
    static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);
    static _Thread_local struct timespec woke;
    if (!real)
        real = (int (*)(clockid_t, int, const struct timespec *, struct timespec *))dlsym(
            RTLD_NEXT, "clock_nanosleep");
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    if (strcmp(name, "autosave") != 0) return real(clock, flags, time, rest);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    // The first time there is no last one.
    time_t worked = woke.tv_sec ? now.tv_sec - woke.tv_sec : 0;
    long pieces = woke.tv_sec ? 9 * (worked * 1000 + (now.tv_nsec - woke.tv_nsec) / 1000000) / 1000 : 0;
    int result = real(clock, flags, time, rest);
    while (result == 0 && pieces-- > 0) result = real(clock, flags, time, rest);
    clock_gettime(CLOCK_MONOTONIC, &woke);
    return result;
}
