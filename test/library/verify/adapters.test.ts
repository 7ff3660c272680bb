import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import Fastify, { type FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import {
  AssertionError,
  createVerifier,
  expressIdentity,
  fastifyIdentity,
  fetchIdentity,
  type Identified,
  type Verifier,
  verifyRequest,
} from '#library/verify.ts'
import { startGateway } from '../../setup/gateway.ts'
import { portOf } from '../../setup/net.ts'

/** The part of Express that is used: it brings no types of its own. */
interface ExpressApp {
  use(middleware: ReturnType<typeof expressIdentity>): void
  get(path: string, handler: (request: Identified, response: { json(body: unknown): void }) => void): void
  listen(port: number, host: string): ReturnType<typeof createServer>
}

// The cast is sound: these are the documented forms of Express 5.
const express = createRequire(import.meta.url)('express') as () => ExpressApp

type RequestVerifier = Pick<Verifier, 'header' | 'verify'>

/** A gateway in front of a backend that is started with its verifier. */
async function start(t: Test, backendOf: (verifier: RequestVerifier) => Promise<string>) {
  // The verifier needs the gateway, which needs the backend: the keys are read only with the first request.
  const place = { url: '' }
  const lazy: RequestVerifier = {
    header: 'X-Gatehouse-Assertion',
    verify: (assertion) =>
      createVerifier({
        jwksUrl: `${place.url}/.well-known/jwks.json`,
        issuer: 'http://localhost:8080',
        audience: 'backend',
      }).verify(assertion),
  }
  const backend = await backendOf(lazy)
  const gateway = await startGateway(t, { backend, config: { identity: { assertion: { enabled: true } } } })
  place.url = gateway.url
  const { account, secretKey } = await gateway.createAccount({ role: 'Editor' })
  const throughGateway = await fetch(`${gateway.url}/any`, { headers: { SecretKey: secretKey } })
  t.equal(throughGateway.status, 200)
  t.strictSame(await throughGateway.json(), { id: account.id, role: 'Editor' })
  t.equal((await fetch(`${backend}/any`)).status, 401, 'around the gateway')
  const forged = await fetch(`${backend}/any`, { headers: { 'X-Gatehouse-Assertion': 'a.b.c' } })
  t.equal(forged.status, 401)
}

t.test('a backend on node:http verifies the identity of its callers', async (t) => {
  await start(t, async (verifier) => {
    const server = createServer(async (request, response) => {
      try {
        const { accountId: id, role } = await verifyRequest(verifier, request)
        response.end(JSON.stringify({ id, role }))
      } catch (error) {
        response.writeHead(error instanceof AssertionError ? error.statusCode : 500).end()
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    return `http://127.0.0.1:${portOf(server)}`
  })
})

t.test('a backend on Express verifies the identity of its callers', async (t) => {
  await start(t, async (verifier) => {
    const app = express()
    app.use(expressIdentity(verifier))
    app.get('/any', (request, response) => {
      response.json({ id: request.identity?.accountId, role: request.identity?.role })
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    return `http://127.0.0.1:${portOf(server)}`
  })
})

t.test('a backend on Fastify verifies the identity of its callers', async (t) => {
  await start(t, async (verifier) => {
    const app = Fastify({ forceCloseConnections: true })
    app.addHook('onRequest', fastifyIdentity(verifier))
    app.get('/any', (request: FastifyRequest & Identified) => {
      const { identity } = request
      return { id: identity?.accountId, role: identity?.role }
    })
    t.teardown(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  })
})

t.test('a handler of Requests verifies the identity of its callers', async (t) => {
  await start(t, async (verifier) => {
    const handle = fetchIdentity(verifier, (_request, { accountId: id, role }) => Response.json({ id, role }))
    const server = createServer(async ({ url, headers }, response) => {
      const fields = Object.entries(headers).map(([name, value]) => [name, String(value)] as [string, string])
      const answer = await handle(new Request(`http://backend${url}`, { headers: fields }))
      response.writeHead(answer.status).end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    return `http://127.0.0.1:${portOf(server)}`
  })
})
