"""An application that names each request it is asked to run, on a server of the first argument and port of the second.

Its paths: /…/read reads the body, /…/unchanged answers 304 with a body; all others leave the body unread. It answers with the
path, to HEAD too: what is sent then is up to the server."""
import sys

name, port = sys.argv[1], int(sys.argv[2])


def application(environ, start_response):
    path = environ["PATH_INFO"]
    print("ran", environ["REQUEST_METHOD"], path, flush=True)
    if path.endswith("/read"):
        environ["wsgi.input"].read()
    body = path.encode("latin-1")
    status = "304 Not Modified" if path.endswith("/unchanged") else "200 OK"
    start_response(status, [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def serve_cheroot():
    from cheroot.wsgi import Server

    Server(("127.0.0.1", port), application).start()


def serve_gevent():
    from gevent.pywsgi import WSGIServer

    WSGIServer(("127.0.0.1", port), application, log=None).serve_forever()


def serve_waitress():
    from waitress import serve

    serve(application, host="127.0.0.1", port=port, _quiet=True)


def serve_tornado():
    from tornado.httpserver import HTTPServer
    from tornado.ioloop import IOLoop
    from tornado.wsgi import WSGIContainer

    HTTPServer(WSGIContainer(application)).listen(port, "127.0.0.1")
    IOLoop.current().start()


def serve_twisted():
    from twisted.internet import reactor
    from twisted.web.server import Site
    from twisted.web.wsgi import WSGIResource

    reactor.listenTCP(port, Site(WSGIResource(reactor, reactor.getThreadPool(), application)), interface="127.0.0.1")
    reactor.run()


{
    "cheroot": serve_cheroot,
    "gevent": serve_gevent,
    "waitress": serve_waitress,
    "tornado": serve_tornado,
    "twisted": serve_twisted,
}[name]()
