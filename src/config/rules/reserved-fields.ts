// The fields that the gateway alone decides about, by their folded names. The texts say why, and stand after the name
// in a message.

const aboutConnection = 'is about one connection, and written by the gateway'
const handshake = 'belongs to the handshake between client and backend'
const aboutClient = 'tells the backend who the client is, and is written by the gateway'
const destination = 'names a second target, which the gateway checks and rewrites'
const trace = 'carries the trace, which the gateway continues'

const inBoth = {
  connection: aboutConnection,
  keepalive: aboutConnection,
  proxyconnection: aboutConnection,
  te: aboutConnection,
  upgrade: aboutConnection,
  secwebsocketaccept: handshake,
  secwebsocketversion: handshake,
}

function framing(message: string) {
  const frames = `frames the ${message}, and is written by the gateway`
  return { contentlength: frames, transferencoding: frames, trailer: frames }
}

/** In what a backend gets. */
export const reservedInRequests: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...inBoth,
    ...framing('request'),
    proxyauthenticate: aboutConnection,
    proxyauthorization: aboutConnection,
    http2settings: aboutConnection,
    expect: 'frames the request, and is written by the gateway',
    maxforwards: 'is counted down by the gateway',
    host: 'is chosen by the option "host" of the upstream',
    xforwardedfor: aboutClient,
    xforwardedproto: aboutClient,
    xforwardedhost: aboutClient,
    xforwardedprefix: aboutClient,
    xrequestid: 'connects the log lines of gateway and backend, and is written by the gateway',
    destination,
    newuri: destination,
    traceparent: trace,
    tracestate: trace,
    proxy: 'is never forwarded: programs take it for the address of their proxy',
    secwebsocketkey: handshake,
  }),
)

/** In what a client gets. */
export const reservedInResponses: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...inBoth,
    ...framing('response'),
    proxyauthenticate: aboutConnection,
    date: 'is written by the gateway where the backend sends none',
    xrequestid: 'connects the response with the log, and is written by the gateway',
    secwebsocketprotocol: handshake,
    secwebsocketextensions: handshake,
  }),
)
