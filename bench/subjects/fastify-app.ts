import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { gatehouse } from '#library/fastify.ts'
import { reportUrl } from '../report-url.ts'

/** @fastify/http-proxy with the options of `gatehouse/fastify`, on the store of a gateway. */
const [, , upstream = '', config = ''] = process.argv
const app = Fastify({ bodyLimit: 1_073_741_824 })
await app.register(gatehouse, { config })
const options = { upstream, maxBody: 'unlimited', connections: 1_024 } as const
await app.register(httpProxy, app.gatehouse.proxy({ ...options, prefix: '/any', auth: 'any' }))
await app.register(httpProxy, app.gatehouse.proxy({ ...options, prefix: '/public', auth: 'none' }))
await app.ready()
await reportUrl(app.server)
