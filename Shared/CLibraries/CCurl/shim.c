#include "CCurl.h"

#include <curl/curl.h>
#include <string.h>

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
                       char *text) {
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
  CURLcode code = set_up(easy, request, fields, text);
  int end;
  if (code == CURLE_OK) {
    code = curl_easy_perform(easy);
    if (code == CURLE_OK) curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, status);
    end = kind(code);
  } else {
    end = code == CURLE_URL_MALFORMAT ? PURSER_CURL_REFUSED_URL : PURSER_CURL_CONFIGURATION;
  }
  if (code != CURLE_OK && !text[0]) strncat(text, curl_easy_strerror(code), 255);
  // The handle must not keep pointers into this call.
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, NULL);
  curl_slist_free_all(fields);
  return end;
}
