#define _GNU_SOURCE
#include "CMicrohttpd.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The daemon's callbacks live as long as the process's daemon: freed by purser_http_stop through
// this pair, because the library keeps only pointers.
struct running {
  struct MHD_Daemon *daemon;
  purser_http_callbacks callbacks;
  atomic_uint named;
  struct running *next;
};

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct running *all;

static void name_thread(struct running *self) {
  static _Thread_local int done;
  if (done) return;
  done = 1;
  char name[16];
  snprintf(name, sizeof name, "http-%u", atomic_fetch_add(&self->named, 1));
  pthread_setname_np(pthread_self(), name);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **peer,
                          enum MHD_ConnectionNotificationCode code) {
  struct running *self = context;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    name_thread(self);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *peer = self->callbacks.connected(self->callbacks.context, info ? info->connect_fd : -1);
  } else if (*peer) {
    self->callbacks.disconnected(self->callbacks.context, *peer);
    *peer = NULL;
  }
}

static void *on_request_line(void *context, const char *target, struct MHD_Connection *connection) {
  struct running *self = context;
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return self->callbacks.began(self->callbacks.context, info ? info->socket_context : NULL,
                               target ? target : "");
}

static enum MHD_Result on_step(void *context, struct MHD_Connection *connection, const char *url,
                               const char *method, const char *version, const char *bytes,
                               size_t *count, void **exchange) {
  (void)url;
  struct running *self = context;
  if (!*exchange) return MHD_NO;
  int go = self->callbacks.step(self->callbacks.context, *exchange, connection, method, version,
                                bytes, *count);
  *count = 0;
  return go ? MHD_YES : MHD_NO;
}

static void on_end(void *context, struct MHD_Connection *connection, void **exchange,
                   enum MHD_RequestTerminationCode code) {
  (void)connection;
  (void)code;
  struct running *self = context;
  if (*exchange) self->callbacks.ended(self->callbacks.context, *exchange);
  *exchange = NULL;
}

// The wrapper decodes the target itself, so that %00 cannot cut it and %2F stays apart from '/'.
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

static void on_log(void *context, const char *format, va_list arguments) {
  struct running *self = context;
  char line[400];
  vsnprintf(line, sizeof line, format, arguments);
  self->callbacks.log(self->callbacks.context, line);
}

struct MHD_Daemon *purser_http_start(const purser_http_options *options,
                                     const purser_http_callbacks *callbacks) {
  struct running *self = calloc(1, sizeof *self);
  if (!self) return NULL;
  self->callbacks = *callbacks;

  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                       MHD_USE_ERROR_LOG;
  struct MHD_OptionItem more[] = {
      {MHD_OPTION_LISTEN_SOCKET, options->listening_descriptor, NULL},
      {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)options->connections, NULL},
      {MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)options->connections_per_client, NULL},
      {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)options->idle_seconds, NULL},
      {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->connection_memory_bytes, NULL},
      // A pool of one is not allowed; without the option there is one thread.
      {options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END,
       (intptr_t)options->threads, NULL},
      {MHD_OPTION_END, 0, NULL}};
  self->daemon = MHD_start_daemon(
      flags, 0, NULL, NULL, &on_step, self,
      MHD_OPTION_EXTERNAL_LOGGER, &on_log, self,
      MHD_OPTION_NOTIFY_CONNECTION, &on_connection, self,
      MHD_OPTION_NOTIFY_COMPLETED, &on_end, self,
      MHD_OPTION_URI_LOG_CALLBACK, &on_request_line, self,
      MHD_OPTION_UNESCAPE_CALLBACK, &keep_escapes, self,
      MHD_OPTION_ARRAY, more, MHD_OPTION_END);
  struct MHD_Daemon *daemon = self->daemon;
  if (!daemon) {
    free(self);
    return NULL;
  }
  pthread_mutex_lock(&all_lock);
  self->next = all;
  all = self;
  pthread_mutex_unlock(&all_lock);
  return daemon;
}

void purser_http_quiesce(struct MHD_Daemon *daemon) {
  int descriptor = MHD_quiesce_daemon(daemon);
  // The library leaves the socket listening; this makes the kernel refuse from now on.
  if (descriptor >= 0) shutdown(descriptor, SHUT_RDWR);
}

void purser_http_stop(struct MHD_Daemon *daemon) {
  MHD_stop_daemon(daemon);
  pthread_mutex_lock(&all_lock);
  struct running **link = &all;
  while (*link && (*link)->daemon != daemon) link = &(*link)->next;
  struct running *self = *link;
  if (self) *link = self->next;
  pthread_mutex_unlock(&all_lock);
  free(self);
}

void purser_http_suspend(struct MHD_Connection *connection) { MHD_suspend_connection(connection); }
void purser_http_resume(struct MHD_Connection *connection) { MHD_resume_connection(connection); }

struct field_walk {
  void *list;
  purser_http_field field;
};

static enum MHD_Result on_field(void *context, enum MHD_ValueKind kind, const char *name,
                                size_t name_length, const char *value, size_t value_length) {
  (void)kind;
  struct field_walk *walk = context;
  walk->field(walk->list, name ? name : "", name ? name_length : 0, value ? value : "",
              value ? value_length : 0);
  return MHD_YES;
}

void purser_http_each_field(struct MHD_Connection *connection, void *list,
                            purser_http_field field) {
  struct field_walk walk = {list, field};
  MHD_get_connection_values_n(connection, MHD_HEADER_KIND, &on_field, &walk);
}

// Adds the fields, queues the answer, and gives the response back to the library.
static int queue(struct MHD_Connection *connection, unsigned int status,
                 struct MHD_Response *response, const char *fields, size_t field_count) {
  enum MHD_Result result = MHD_YES;
  for (size_t i = 0; i < field_count && result == MHD_YES; i++) {
    const char *value = fields + strlen(fields) + 1;
    result = MHD_add_response_header(response, fields, value);
    fields = value + strlen(value) + 1;
  }
  if (result == MHD_YES) result = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return result == MHD_YES;
}

int purser_http_answer(struct MHD_Connection *connection, unsigned int status, const uint8_t *body,
                       size_t body_length, const char *fields, size_t field_count) {
  struct MHD_Response *response = MHD_create_response_from_buffer(
      body_length, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
  return response ? queue(connection, status, response, fields, field_count) : 0;
}

struct stream {
  void *context;
  purser_http_read read;
  purser_http_release release;
};

static ssize_t on_read(void *context, uint64_t position, char *buffer, size_t maximum) {
  (void)position;
  struct stream *stream = context;
  long count = stream->read(stream->context, buffer, maximum);
  return count < 0 ? MHD_CONTENT_READER_END_OF_STREAM : count;
}

static void on_release(void *context) {
  struct stream *stream = context;
  stream->release(stream->context);
  free(stream);
}

int purser_http_stream(struct MHD_Connection *connection, unsigned int status, const char *fields,
                       size_t field_count, void *context, purser_http_read read,
                       purser_http_release release) {
  struct stream *stream = malloc(sizeof *stream);
  if (!stream) {
    release(context);
    return 0;
  }
  *stream = (struct stream){context, read, release};
  struct MHD_Response *response = MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, 4096, &on_read, stream, &on_release);
  if (!response) {
    on_release(stream);
    return 0;
  }
  return queue(connection, status, response, fields, field_count);
}

int purser_http_listen(const char *host, uint16_t port, int backlog) {
  char service[8];
  snprintf(service, sizeof service, "%u", port);
  struct addrinfo hints = {.ai_family = AF_UNSPEC,
                           .ai_socktype = SOCK_STREAM,
                           .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
  struct addrinfo *found = NULL;
  int code = getaddrinfo(host[0] ? host : NULL, service, &hints, &found);
  if (code != 0) return -10000 + code;  // the codes of glibc are negative
  int result = -EADDRNOTAVAIL;
  for (struct addrinfo *one = found; one; one = one->ai_next) {
    int descriptor = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
      result = -errno;
      continue;
    }
    int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(descriptor, one->ai_addr, one->ai_addrlen) == 0 && listen(descriptor, backlog) == 0) {
      result = descriptor;
      break;
    }
    result = -errno;
    close(descriptor);
  }
  freeaddrinfo(found);
  return result;
}

uint16_t purser_http_port(int descriptor) {
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &length) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
  if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  return 0;
}

const char *purser_http_listen_fault(int result) {
  if (result <= -9000) return gai_strerror(result + 10000);
  const char *text = strerrordesc_np(-result);
  return text ? text : "unknown error";
}
