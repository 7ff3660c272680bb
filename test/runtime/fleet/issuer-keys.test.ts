import type { ServerResponse } from 'node:http'
import t from 'tap'
import {
  type IssuerKey,
  newIssuerKey,
  rightClaims,
  signToken,
  startIssuer,
} from '../../identity/issuers/issuer-server.ts'
import { startBackend } from '../../setup/backend.ts'
import { until } from '../../setup/net.ts'
import { type Fleet, get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

const open = { name: 'all', path: '/all', upstream: 'backend', auth: 'none' }
const orders = { name: 'orders', path: '/orders', upstream: 'backend', auth: 'any' }
const [first, second] = [await newIssuerKey('first'), await newIssuerKey('second')]

const statusOf = (fleet: Fleet, token: string) =>
  get(`${fleet.url}/orders`, { Authorization: `Bearer ${token}` })

/** The workers that have answered a request of the route with a status. */
function workersWith(fleet: Fleet, wanted: number): ReadonlySet<number | undefined> {
  const lines = fleet.lines().filter(({ route, status }) => route === 'orders' && status === wanted)
  return new Set(lines.map(({ worker }) => worker))
}

t.test('unknown keys cost an issuer one request a cooldown, for all workers together', async (t) => {
  const issuer = await startIssuer(t, [first])
  const backend = await startBackend(t)
  const corp = { name: 'corp', issuer: issuer.url, audience: 'orders', jwks: { url: `${issuer.url}/jwks` } }
  const fleet = await serveFleet(t, {
    backend: backend.url,
    workers: 3,
    config: {
      issuers: [corp],
      routes: [open, { ...orders, issuers: ['corp'] }],
      ops: { port: 0 },
      limits: { failures: { limit: 1_000_000, per: '1m' } },
    },
  })
  await untilAllAnswer(fleet, 3)
  const passes = await issuer.sign()
  t.equal(await statusOf(fleet, passes), 200)
  const fetchedBefore = issuer.seen.length
  t.ok(fetchedBefore <= 3, 'each worker has asked once at most')

  const signAs = (kid: string, key: IssuerKey = first) => signToken({ ...key, kid }, rightClaims(issuer.url))
  const startedAt = performance.now()
  for (let round = 0; round < 10; round++) {
    const tokens = await Promise.all(Array.from({ length: 40 }, (_, n) => signAs(`made-up-${round}-${n}`)))
    const statuses = new Set(await Promise.all(tokens.map((token) => statusOf(fleet, token))))
    t.strictSame([...statuses], [401])
  }
  const tookMs = performance.now() - startedAt
  t.comment(`400 unknown keys in ${Math.round(tookMs)} ms`)
  await until('each worker has refused some', () => workersWith(fleet, 401).size === 3 || undefined)
  t.ok(issuer.seen.length - fetchedBefore <= 1 + Math.floor(tookMs / 10_000), 'one request a cooldown')
  t.equal(await statusOf(fleet, passes), 200)

  issuer.state.keys = [first, second]
  const renewed = await signAs('second', second)
  await until('the cooldown is over', async () => (await statusOf(fleet, renewed)) === 200 || undefined)
  const fetched = issuer.seen.length
  await until('each worker knows the new key', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf(fleet, renewed)))
    return (statuses.every((status) => status === 200) && workersWith(fleet, 200).size === 3) || undefined
  })
  t.ok(issuer.seen.length - fetched <= 1, 'and none of them has fetched it by itself')
  const metrics = await (await fetch(`${fleet.opsUrl}/metrics`)).text()
  const counted = /gatehouse_issuer_fetches_total\{issuer="corp",outcome="ok"\} (\d+)/.exec(metrics)?.[1]
  t.equal(Number(counted), issuer.seen.length, 'what is shared is counted once')
})

/** An issuer that is asked for its keys, and does not do what one should. */
const misbehaviours: Readonly<Record<string, (response: ServerResponse) => void>> = {
  silent: () => {},
  dripping: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    const timer = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(timer))
  },
  failing: (response) => response.writeHead(500).end(),
  closing: (response) => response.destroy(),
  html: (response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>keys</html>'),
  redirecting: (response) => response.writeHead(302, { Location: '/jwks' }).end(),
  endless: (response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write('"'.padEnd(65_536, 'x')));
    }
    response.on('drain', more)
    more()
  },
  // Within the bytes that are read, and far more keys than are taken.
  'many-keys': (response) => response.end(`{"keys":[${Array(10_000).fill('{"kty":"EC"}')}]}`),
  'large-keys': (response) => response.end(JSON.stringify({ keys: Array(10_000).fill(first.jwk) })),
  nested: (response) => response.end(`{"keys":${'['.repeat(100_000)}`),
}

t.test('an issuer that is slow, wrong or away delays no other request', async (t) => {
  const backend = await startBackend(t)
  const well = await startIssuer(t, [first])
  const bad = await Promise.all(
    Object.entries(misbehaviours).map(async ([name, answer]) => {
      const { url, state } = await startIssuer(t, [first])
      state.answer = (_, response) => answer(response)
      return { name, url }
    }),
  )
  const away = { name: 'away', url: 'http://127.0.0.1:1' }
  const entry = ({ name, url }: typeof away) => ({
    name,
    issuer: url,
    audience: 'orders',
    jwks: { url: `${url}/jwks` },
  })
  const all = [{ name: 'well', url: well.url }, ...bad, away]
  const fleet = await serveFleet(t, {
    backend: backend.url,
    config: {
      issuers: all.map(entry),
      routes: [open, { ...orders, issuers: all.map(({ name }) => name) }],
      limits: { failures: { limit: 1_000_000, per: '1m' } },
    },
  })
  await untilAllAnswer(fleet)
  const created = await fleet.run('accounts', 'create', '--email', 'a@example.com', '--json')
  const { secretKey } = created.json() as { readonly secretKey: string }
  const foreign = await well.sign()

  let isOver = false
  let longestMs = 0
  const seen = new Map<string, Set<number>>()
  /** Asks all the time, with a token that no key is known for. */
  const bother = async ({ name, url }: typeof away) => {
    const statuses = new Set<number>()
    seen.set(name, statuses)
    for (let count = 0; !isOver; count++) {
      const token = await signToken({ ...first, kid: `k${count}` }, rightClaims(url))
      const startedAt = performance.now()
      statuses.add(await statusOf(fleet, token))
      longestMs = Math.max(longestMs, performance.now() - startedAt)
    }
  }
  const measure = async () => {
    const took: number[] = []
    for (let count = 0; count < 300; count++) {
      const startedAt = performance.now()
      const headers = count % 2 === 0 ? { SecretKey: secretKey } : { Authorization: `Bearer ${foreign}` }
      t.equal(await get(`${fleet.url}/orders`, headers), 200)
      took.push(performance.now() - startedAt)
    }
    return took.toSorted((one, other) => one - other)[Math.floor(took.length * 0.99)] ?? 0
  }

  const before = await measure()
  const bothering = [...bad, away].map(bother)
  await until('each has been asked for', () => seen.size === bad.length + 1 || undefined)
  const during = await measure()
  isOver = true
  await Promise.all(bothering)
  const rounded = [before, during, longestMs].map((ms) => Math.round(ms))
  t.comment(`p99 before, during, and the longest wait for a bad issuer: ${rounded} ms`)
  // What waits for an issuer waits for a second: whatever else is slow on this machine is not.
  t.ok(during < 400, `p99 of others is ${during} ms`)
  t.ok(longestMs < 3_000, `a token of a bad issuer is answered after ${longestMs} ms`)
  for (const [name, statuses] of seen) t.strictSame([...statuses], [503], name)
})
