#include "CCurl.h"

#include <curl/curl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(CURL_ERROR_SIZE <= 256, "the text of purser_curl_perform must hold curl's words");

int purser_curl_start(void) { return (int)curl_global_init(CURL_GLOBAL_DEFAULT); }
void *purser_curl_new(void) { return curl_easy_init(); }
void purser_curl_free(void *handle) { curl_easy_cleanup(handle); }

static size_t on_head(char *bytes, size_t size, size_t count, void *context) {
  const purser_curl_request *request = context;
  return request->head(request->context, bytes, size * count) ? size * count : 0;
}

static size_t on_piece(char *bytes, size_t size, size_t count, void *context) {
  const purser_curl_request *request = context;
  return request->piece(request->context, bytes, size * count) ? size * count : 0;
}

static int on_progress(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d) {
  (void)a, (void)b, (void)c, (void)d;
  const purser_curl_request *request = context;
  return request->given_up(request->context);
}

static int is_in(const uint8_t *a, uint8_t b0, uint8_t b1, uint8_t b2, uint8_t b3, int bits) {
  const uint8_t net[4] = {b0, b1, b2, b3};
  for (int i = 0; i < bits; i++)
    if (((a[i / 8] ^ net[i / 8]) >> (7 - i % 8)) & 1) return 0;
  return 1;
}

// The special blocks of RFC 6890 and its registry.
static int is_public_4(const uint8_t *a) {
  return !(is_in(a, 0, 0, 0, 0, 8) || is_in(a, 10, 0, 0, 0, 8) || is_in(a, 100, 64, 0, 0, 10) ||
           is_in(a, 127, 0, 0, 0, 8) || is_in(a, 169, 254, 0, 0, 16) ||
           is_in(a, 172, 16, 0, 0, 12) || is_in(a, 192, 0, 0, 0, 24) ||
           is_in(a, 192, 0, 2, 0, 24) || is_in(a, 192, 88, 99, 0, 24) ||
           is_in(a, 192, 168, 0, 0, 16) || is_in(a, 198, 18, 0, 0, 15) ||
           is_in(a, 198, 51, 100, 0, 24) || is_in(a, 203, 0, 113, 0, 24) ||
           is_in(a, 224, 0, 0, 0, 3));
}

int purser_curl_is_public(const uint8_t *a, size_t length) {
  if (length == 4) return is_public_4(a);
  if (length != 16) return 0;
  static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  static const uint8_t nat64[12] = {0, 0x64, 0xFF, 0x9B};
  if (memcmp(a, mapped, 12) == 0 || memcmp(a, nat64, 12) == 0) return is_public_4(a + 12);
  // Only 2000::/3 is given out; in it, tunnels and documentation stand for other addresses.
  return is_in(a, 0x20, 0, 0, 0, 3) && !is_in(a, 0x20, 0x01, 0, 0, 23) &&
         !is_in(a, 0x20, 0x01, 0x0D, 0xB8, 32) && !is_in(a, 0x20, 0x02, 0, 0, 16) &&
         !is_in(a, 0x3F, 0xFF, 0, 0, 20);
}

// Asked with the address itself, after the name was resolved: a name cannot change in between.
static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  int is_public = 0;
  if (address->family == AF_INET) {
    const struct sockaddr_in *known = (const struct sockaddr_in *)&address->addr;
    is_public = purser_curl_is_public((const uint8_t *)&known->sin_addr, 4);
  } else if (address->family == AF_INET6) {
    const struct sockaddr_in6 *known = (const struct sockaddr_in6 *)&address->addr;
    is_public = purser_curl_is_public((const uint8_t *)&known->sin6_addr, 16);
  }
  if (!is_public) {
    *(int *)context = 1;
    return CURL_SOCKET_BAD;
  }
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static int kind(CURLcode code) {
  switch (code) {
    case CURLE_OK: return PURSER_CURL_DONE;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return PURSER_CURL_REFUSED_URL;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY: return PURSER_CURL_NAME_UNKNOWN;
    case CURLE_COULDNT_CONNECT: return PURSER_CURL_CANNOT_CONNECT;
    case CURLE_OPERATION_TIMEDOUT: return PURSER_CURL_TIMED_OUT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS: return PURSER_CURL_TLS;
    case CURLE_SSL_CACERT_BADFILE: return PURSER_CURL_CONFIGURATION;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_WEIRD_SERVER_REPLY: return PURSER_CURL_CUT;
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK: return PURSER_CURL_GIVEN_UP;
    default: return PURSER_CURL_OTHER;
  }
}

static CURLcode set_up(CURL *easy, const purser_curl_request *request, struct curl_slist *fields,
                       char *text, int *is_forbidden) {
  CURLcode code = CURLE_OK;
#define SET(option, value) \
  if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value)
  SET(CURLOPT_ERRORBUFFER, text);
  SET(CURLOPT_NOSIGNAL, 1L);
  SET(CURLOPT_PROTOCOLS_STR, "http,https");
  SET(CURLOPT_FOLLOWLOCATION, 0L);
  SET(CURLOPT_URL, request->url);
  SET(CURLOPT_HTTPHEADER, fields);
  SET(CURLOPT_TIMEOUT_MS, request->timeout_milliseconds);
  SET(CURLOPT_CONNECTTIMEOUT_MS, request->connect_timeout_milliseconds);
  SET(CURLOPT_MAXCONNECTS, 4L);
  SET(CURLOPT_TCP_KEEPALIVE, 1L);
  SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  SET(CURLOPT_HEADERFUNCTION, on_head);
  SET(CURLOPT_HEADERDATA, (void *)request);
  SET(CURLOPT_WRITEFUNCTION, on_piece);
  SET(CURLOPT_WRITEDATA, (void *)request);
  SET(CURLOPT_NOPROGRESS, 0L);
  SET(CURLOPT_XFERINFOFUNCTION, on_progress);
  SET(CURLOPT_XFERINFODATA, (void *)request);
  if (request->public_only) {
    // A connection that is kept was made under the same rule: the client asks it of all or of none.
    SET(CURLOPT_OPENSOCKETFUNCTION, on_open);
    SET(CURLOPT_OPENSOCKETDATA, is_forbidden);
    SET(CURLOPT_PROXY, "");
  }
  if (request->ca_file) SET(CURLOPT_CAINFO, request->ca_file);
  if (request->ca_pem) {
    struct curl_blob blob = {(void *)(uintptr_t)request->ca_pem, request->ca_pem_length,
                             CURL_BLOB_COPY};
    SET(CURLOPT_CAINFO_BLOB, &blob);
  }
  if (request->body) {
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_length);
    SET(CURLOPT_POSTFIELDS, request->body);
  }
  if (strcmp(request->method, "HEAD") == 0) {
    SET(CURLOPT_NOBODY, 1L);
  } else if (request->body || strcmp(request->method, "GET") != 0) {
    SET(CURLOPT_CUSTOMREQUEST, request->method);
  }
#undef SET
  return code;
}

int purser_curl_perform(void *handle, const purser_curl_request *request, long *status,
                        char *text) {
  CURL *easy = handle;
  *status = 0;
  text[0] = 0;
  struct curl_slist *fields = NULL;
  const char *line = request->fields;
  for (size_t i = 0; i < request->field_count; i++) {
    struct curl_slist *longer = curl_slist_append(fields, line);
    if (!longer) {
      curl_slist_free_all(fields);
      return PURSER_CURL_OTHER;
    }
    fields = longer;
    line += strlen(line) + 1;
  }
  // Keeps open connections and the TLS sessions, forgets everything of the request before.
  curl_easy_reset(easy);
  int is_forbidden = 0;
  CURLcode code = set_up(easy, request, fields, text, &is_forbidden);
  int end;
  if (code == CURLE_OK) {
    code = curl_easy_perform(easy);
    if (code == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
    end = code != CURLE_OK && is_forbidden ? PURSER_CURL_FORBIDDEN_ADDRESS : kind(code);
  } else {
    end = code == CURLE_URL_MALFORMAT ? PURSER_CURL_REFUSED_URL : PURSER_CURL_CONFIGURATION;
  }
  if (code != CURLE_OK && !text[0]) strncat(text, curl_easy_strerror(code), 255);
  // The handle must not keep pointers into this call.
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, NULL);
  curl_slist_free_all(fields);
  return end;
}
