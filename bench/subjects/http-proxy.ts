import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { reportUrl } from '../report-url.ts'

/** @fastify/http-proxy with its defaults, without any authentication. */
const app = Fastify({ bodyLimit: 1_073_741_824 })
await app.register(httpProxy, {
  upstream: process.argv[2] ?? '',
  websocket: true,
  undici: { connections: 1_024, pipelining: 1 },
})
await app.ready()
await reportUrl(app.server)
