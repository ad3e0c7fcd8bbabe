// libcurl's easy interface behind functions that Swift can call: no variadics, no headers of curl.
#ifndef PURSER_CCURL_H
#define PURSER_CCURL_H

#include <stddef.h>
#include <stdint.h>

// Once per process, before any other call; 0 when all is well.
int purser_curl_start(void);

// An easy handle: one thread at a time. Null when out of memory.
void *purser_curl_new(void);
void purser_curl_free(void *handle);

typedef struct purser_curl_request {
  const char *url;
  const char *method;
  // Whole lines "Name: value", each ended by NUL, `field_count` of them.
  const char *fields;
  size_t field_count;
  const uint8_t *body;  // NULL: no body
  size_t body_length;
  long timeout_milliseconds;
  long connect_timeout_milliseconds;
  const char *ca_file;  // NULL: those of the system
  const uint8_t *ca_pem;
  size_t ca_pem_length;
  // Not 0: only public addresses are connected to, and no proxy of the environment is used.
  int public_only;
  void *context;
  // One line of the head, or a piece of the body; 0 gives up.
  int (*head)(void *context, const char *line, size_t length);
  int (*piece)(void *context, const char *bytes, size_t length);
  // Asked about once a second and at each step; not 0 gives up.
  int (*given_up)(void *context);
} purser_curl_request;

// Whether the network bytes of an address (4 or 16) are those of a host that all the world can reach;
// 0 for this machine, private networks, and what stands for one of these.
int purser_curl_is_public(const uint8_t *address, size_t length);

// What kind of end a transfer came to.
enum purser_curl_end {
  PURSER_CURL_DONE = 0,
  PURSER_CURL_REFUSED_URL,
  PURSER_CURL_NAME_UNKNOWN,
  PURSER_CURL_CANNOT_CONNECT,
  PURSER_CURL_TIMED_OUT,
  PURSER_CURL_TLS,
  PURSER_CURL_CUT,
  PURSER_CURL_GIVEN_UP,
  PURSER_CURL_CONFIGURATION,
  PURSER_CURL_FORBIDDEN_ADDRESS,
  PURSER_CURL_OTHER
};

// Blocks until the transfer has ended; the text (at least 256 bytes) gets curl's words.
int purser_curl_perform(void *handle, const purser_curl_request *request, long *status, char *text);

#endif
