// Lets the development broker wait, as Kafka does, when a Fetch finds nothing, and write all that it has
// only as often as a tenth of a core allows.
//
// noida-db 0.2.3 ignores `max_wait_ms` and answers an empty Fetch at once; so every idle consumer asks
// several thousand times a second and keeps a core busy on both sides. Loaded into the broker with
// LD_PRELOAD, this keeps an empty answer back until a request was answered that may have written to one of
// the Fetch's topics, and then has the broker answer the same Fetch again; or until its `max_wait_ms` is over,
// and then sends it.
//
// The broker serves each connection by a thread of its own with blocking `recv` and `send`, and answers in
// order. Whatever does not look like that is passed on untouched, and wakes everybody.
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

/// A request that was read and is not answered yet.
struct request {
    int16_t key;
    /// What its answer may show to others.
    classes written;
};

/// How many requests may be on their way on one connection; more, and all its answers wake everybody.
enum { WAITING = 1024, HEAD = 512 };

/// A Fetch, or an empty answer, of more bytes is passed on as it is.
enum { KEPT = 32 * 1024 };

/// What is known of the one connection that a thread serves.
static _Thread_local struct {
    /// The request that is being read: its beginning, how much of it came, and how long it is.
    unsigned char head[HEAD];
    size_t came, whole;
    struct request waiting[WAITING];
    unsigned first, count;
    int is_lost;
    /// Bytes of the answer that are still to be sent.
    size_t answer;
    /// The Fetch that was asked last, and its empty answer while that is kept back.
    unsigned char fetch[KEPT], empty[KEPT];
    size_t fetch_size, empty_size;
    classes mask;
    uint64_t seen;
    struct timespec until;
} line;

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

/// The classes of the topics that a Fetch of version 4 to 11 asks for; 0 if it cannot be read. `wait` gets its
/// `max_wait_ms`.
///
/// Kafka protocol guide, Fetch Request: replica, max_wait_ms, min_bytes, max_bytes, isolation; from 7 on
/// a session of two numbers; topics with partitions of index, (9) epoch, offset, (5) log start, size.
static classes asked(const unsigned char *request, size_t length, uint32_t *wait) {
    int version = request[6] << 8 | request[7];
    size_t at = after_client(request);
    size_t fixed = version >= 7 ? 25 : 17;
    size_t entry = (size_t)(4 + (version >= 9 ? 4 : 0) + 8 + (version >= 5 ? 8 : 0) + 4);
    classes mask = 0;
    if (version < 4 || version > 11 || at + fixed + 4 > length) return 0;
    *wait = number(request + at + 4);
    at += fixed;
    uint32_t topics = number(request + at);
    at += 4;
    while (topics-- > 0) {
        uint64_t topic = topic_at(request, length, at, &at);
        if (!topic || at + 4 > length) return 0;
        mask |= class_of(topic);
        at += 4 + number(request + at) * entry;
    }
    return at <= length ? mask : 0;
}

/// Whether the answer to a Fetch of a version from 4 to 11 holds no record and no error.
///
/// Kafka protocol guide, Fetch Response: length, correlation id, throttle; (7) error, session; topics with
/// partitions of index, error, high watermark, last stable, (5) log start, aborted transactions of 16 bytes,
/// (11) replica, records.
static int is_empty(int version, const unsigned char *answer, size_t length) {
    size_t at = 12 + (version >= 7 ? 6 : 0);
    size_t ends = (size_t)(4 + 2 + 8 + 8 + (version >= 5 ? 8 : 0));
    if (at + 4 > length || (version >= 7 && (answer[12] || answer[13]))) return 0;
    uint32_t topics = number(answer + at);
    at += 4;
    while (topics-- > 0) {
        if (!topic_at(answer, length, at, &at) || at + 4 > length) return 0;
        uint32_t partitions = number(answer + at);
        at += 4;
        while (partitions-- > 0) {
            if (at + ends + 4 > length || answer[at + 4] || answer[at + 5]) return 0;
            uint32_t aborted = number(answer + at + ends);
            at += ends + 4 + (aborted == ~0u ? 0 : 16 * (size_t)aborted) + (version >= 11 ? 4 : 0);
            if (at + 4 > length || (int32_t)number(answer + at) > 0) return 0;
            at += 4;
        }
    }
    return at == length;
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

static int is_over(const struct timespec *until) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/// Waits for a write to one of the classes; 0 when the time is over.
static int wait_for_write(classes mask, uint64_t seen, const struct timespec *until) {
    for (;;) {
        uint32_t before = atomic_load(&writes);
        if (writes_of(mask) != seen) return 1;
        if (is_over(until)) return 0;
        syscall(SYS_futex, &writes, FUTEX_WAIT_BITSET_PRIVATE, before, until, NULL, mask);
    }
}

static void wrote(classes mask) {
    for (int i = 0; i < 32; i++)
        if (mask >> i & 1) atomic_fetch_add(&written[i], 1);
    atomic_fetch_add(&writes, 1);
    syscall(SYS_futex, &writes, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, mask);
}

/// Notes a request whose beginning is known.
static void note(const unsigned char *head, size_t length) {
    if (line.count == WAITING) line.is_lost = 1;
    if (line.is_lost) return;
    struct request one = {.key = -1, .written = ALL};
    if (length >= 14) {
        one.key = (int16_t)(head[4] << 8 | head[5]);
        if (one.key == PRODUCE) one.written = produced(head, length);
    }
    line.waiting[(line.first + line.count++) % WAITING] = one;
}

/// Follows the requests in what was read, wherever it was cut.
static void follow(const unsigned char *bytes, size_t length) {
    while (length > 0) {
        size_t part = line.whole > 0 ? line.whole - line.came : 4 - line.came;
        if (part > length) part = length;
        if (line.came < HEAD) {
            size_t kept = part < HEAD - line.came ? part : HEAD - line.came;
            memcpy(line.head + line.came, bytes, kept);
        }
        line.came += part, bytes += part, length -= part;
        if (line.whole == 0 && line.came == 4) line.whole = 4 + (size_t)number(line.head);
        if (line.whole > 0 && line.came == line.whole) {
            note(line.head, line.whole < HEAD ? line.whole : HEAD);
            line.came = line.whole = 0;
        }
    }
}

static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_send)(int, const void *, size_t, int);

__attribute__((constructor)) static void find(void) {
    real_recv = (ssize_t(*)(int, void *, size_t, int))dlsym(RTLD_NEXT, "recv");
    real_send = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
}

/// Has the broker answer the Fetch whose empty answer is kept, once there may be more; 0 when the time was over
/// and the empty one was sent.
static size_t ask_again(int socket, void *buffer, size_t size) {
    if (size >= line.fetch_size && wait_for_write(line.mask, line.seen, &line.until)) {
        line.empty_size = 0;
        line.seen = writes_of(line.mask);
        memcpy(buffer, line.fetch, line.fetch_size);
        note(line.fetch, line.fetch_size);
        return line.fetch_size;
    }
    size_t rest = line.empty_size;
    const unsigned char *from = line.empty;
    line.empty_size = line.fetch_size = 0;
    while (rest > 0) {
        ssize_t sent = real_send(socket, from, rest, MSG_NOSIGNAL);
        // The connection is gone, as the broker's own next call will find.
        if (sent <= 0) break;
        from += sent, rest -= (size_t)sent;
    }
    return 0;
}

ssize_t recv(int socket, void *buffer, size_t size, int flags) {
    if (line.empty_size > 0 && !(flags & MSG_PEEK)) {
        size_t again = ask_again(socket, buffer, size);
        if (again > 0) return (ssize_t)again;
    }
    ssize_t length = real_recv(socket, buffer, size, flags);
    const unsigned char *request = buffer;
    if (length <= 0 || flags & MSG_PEEK) return length;
    int is_alone = line.came == 0 && line.count == 0 && length >= 14 && length <= KEPT &&
                   (size_t)number(request) + 4 == (size_t)length;
    follow(request, (size_t)length);
    line.fetch_size = 0;
    if (!is_alone || (request[4] << 8 | request[5]) != FETCH) return length;
    uint32_t most = 0;
    line.mask = asked(request, (size_t)length, &most);
    if (!line.mask) return length;
    if (most > 30000) most = 30000;
    clock_gettime(CLOCK_MONOTONIC, &line.until);
    line.until.tv_sec += most / 1000;
    line.until.tv_nsec += (long)(most % 1000) * 1000000;
    if (line.until.tv_nsec >= 1000000000) line.until.tv_sec++, line.until.tv_nsec -= 1000000000;
    line.seen = writes_of(line.mask);
    line.fetch_size = (size_t)length;
    memcpy(line.fetch, request, line.fetch_size);
    return length;
}

/// Keeps an answer back that is to the Fetch asked last, whole and empty, while its time is not over.
static int keeps(int16_t key, const void *answer, size_t size) {
    if (key != FETCH || line.fetch_size == 0 || line.count > 0 || size > KEPT) return 0;
    int version = line.fetch[6] << 8 | line.fetch[7];
    if (size < 12 || (size_t)number(answer) + 4 != size || !is_empty(version, answer, size)) return 0;
    if (is_over(&line.until)) return 0;
    memcpy(line.empty, answer, size);
    line.empty_size = size;
    return 1;
}

/// Requests that only read or ask: their answers wake nobody.
static int only_reads(int16_t key) {
    return key == FETCH || key == LIST_OFFSETS || key == METADATA || key == OFFSET_COMMIT ||
           key == OFFSET_FETCH || key == HEARTBEAT || key == API_VERSIONS;
}

ssize_t send(int socket, const void *buffer, size_t size, int flags) {
    if (line.answer == 0) {
        struct request one = {.key = -1, .written = ALL};
        if (size < 4) line.is_lost = 1;
        if (!line.is_lost && line.count > 0) {
            one = line.waiting[line.first];
            line.first = (line.first + 1) % WAITING, line.count--;
        }
        if (!line.is_lost && keeps(one.key, buffer, size)) return (ssize_t)size;
        // Before the answer leaves, as whoever reads it may ask at once.
        if (!only_reads(one.key)) wrote(one.written);
        if (!line.is_lost) line.answer = 4 + (size_t)number(buffer);
    }
    ssize_t sent = real_send(socket, buffer, size, flags);
    if (sent > 0) line.answer -= (size_t)sent < line.answer ? (size_t)sent : line.answer;
    return sent;
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
