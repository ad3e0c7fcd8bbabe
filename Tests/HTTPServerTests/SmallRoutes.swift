import HTTPServer

/// Routes that most tests use.
func smallRouter(_ more: (inout Router) -> Void = { _ in }) -> Router {
  var router = Router()
  router.direct(.get, "/direct") { _ in .text("direct") }
  router.on(.get, "/task", scope: nil) { _ in .text("task") }
  router.on(.post, "/echo", scope: nil) { request in
    Response(
      status: 200, headers: [("Content-Type", "application/octet-stream")], body: request.body)
  }
  router.on(.get, "/things/{id}", scope: nil) { request in .text(request.parameter("id")) }
  more(&router)
  return router
}
