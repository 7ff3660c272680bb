import { readFileSync } from 'node:fs'
import { createSecureServer, createServer, type ServerHttp2Stream } from 'node:http2'
import { reportUrl } from '../report-url.ts'

/**
 * What node:http2 itself costs: its server answers by itself and forwards nothing; with certificate and key over TLS.
 * It uses the cheapest calls that there are: fields as an array, no request and response objects.
 */
const [certFile, keyFile] = process.argv.slice(2)
const body = Buffer.from('{"hello":"you"}')
const fields = [':status', '200', 'content-type', 'application/json', 'content-length', '15']
const message = Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body])
const grpcFields = [':status', '200', 'content-type', 'application/grpc']

function answer(stream: ServerHttp2Stream): void {
  stream.respond(fields)
  stream.end(body)
}

function answerCall(stream: ServerHttp2Stream): void {
  stream.respond(grpcFields, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(message)
}

const server =
  certFile === undefined || keyFile === undefined
    ? createServer()
    : createSecureServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) })
server.on('stream', (stream: ServerHttp2Stream, headers) => {
  if (headers[':method'] === 'POST') stream.on('end', () => answerCall(stream)).resume()
  else answer(stream)
})
server.on('sessionError', () => {})
await reportUrl(server)
