// libmicrohttpd behind functions that Swift can call: no variadics, no headers of the library.
#ifndef PURSER_CMICROHTTPD_H
#define PURSER_CMICROHTTPD_H

#include <stddef.h>
#include <stdint.h>

struct MHD_Daemon;
struct MHD_Connection;

// What the daemon tells. All but `log` come from its own threads; none may unwind.
typedef struct purser_http_callbacks {
  void *context;
  // A connection was accepted; the result is its peer and comes back in the calls below.
  void *(*connected)(void *context, int descriptor);
  // The connection ends; its descriptor is closed after this returns.
  void (*disconnected)(void *context, void *peer);
  // A request line was read; the result is the exchange. `target` is as the client sent it.
  void *(*began)(void *context, void *peer, const char *target);
  // Head (first call), then pieces of the body (count above 0), then the end (count 0).
  // Must take all bytes. 0 closes the connection.
  int (*step)(void *context, void *exchange, struct MHD_Connection *connection,
              const char *method, const char *version, const char *bytes, size_t count);
  // The exchange is over, answered or not.
  void (*ended)(void *context, void *exchange);
  // A line of the library about trouble.
  void (*log)(void *context, const char *line);
} purser_http_callbacks;

typedef struct purser_http_options {
  int listening_descriptor;
  unsigned int threads;
  unsigned int connections;
  unsigned int connections_per_client;  // 0: no limit
  unsigned int idle_seconds;
  size_t connection_memory_bytes;
} purser_http_options;

// Null when the daemon cannot start. `callbacks` is copied; its context must outlive the daemon.
struct MHD_Daemon *purser_http_start(const purser_http_options *options,
                                     const purser_http_callbacks *callbacks);
// Stops accepting; the descriptor may be closed only after purser_http_stop.
void purser_http_quiesce(struct MHD_Daemon *daemon);
// Blocks until all threads of the daemon have ended. ABORTS while a connection is suspended.
void purser_http_stop(struct MHD_Daemon *daemon);

void purser_http_suspend(struct MHD_Connection *connection);
void purser_http_resume(struct MHD_Connection *connection);

typedef void (*purser_http_field)(void *list, const char *name, size_t name_length,
                                  const char *value, size_t value_length);
// Calls back for each header field in the order of arrival.
void purser_http_each_field(struct MHD_Connection *connection, void *list, purser_http_field field);

// Queues an answer; bytes are copied. `fields` is name NUL value NUL … `field_count` times.
// 0 when the library refuses it.
int purser_http_answer(struct MHD_Connection *connection, unsigned int status, const uint8_t *body,
                       size_t body_length, const char *fields, size_t field_count);

// Fills `buffer` with the next bytes of a stream: their count, 0 after suspending the connection, or
// PURSER_HTTP_END. On the connection's own thread.
typedef long (*purser_http_read)(void *stream, char *buffer, size_t maximum);
typedef void (*purser_http_release)(void *stream);
enum { PURSER_HTTP_END = -1 };

// Queues an answer whose body is read bit by bit. `release` is called exactly once, also when 0 is
// returned because the library refuses it.
int purser_http_stream(struct MHD_Connection *connection, unsigned int status, const char *fields,
                       size_t field_count, void *stream, purser_http_read read,
                       purser_http_release release);

// Resolves, binds and listens. The descriptor, or the negated errno; -10000 plus the (negative) code of getaddrinfo.
int purser_http_listen(const char *host, uint16_t port, int backlog);
// The port a listening descriptor is bound to; 0 when it is none.
uint16_t purser_http_port(int descriptor);
// What went wrong, in words, for a negative result of purser_http_listen. A static string.
const char *purser_http_listen_fault(int result);

#endif
