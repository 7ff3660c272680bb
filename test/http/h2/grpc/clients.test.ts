import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGateway } from '../../../setup/gateway.ts'
import { until } from '../../../setup/net.ts'
import { startPromise } from '../../../setup/promise-of-time.ts'
import { downloadedMessages, startGrpcBackend } from './backend.ts'
import { type Caller, startCaller } from './caller.ts'
import { openJsCaller } from './js-caller.ts'
import { openChat } from './open-chat.ts'

// uses: go, golang-google-grpc-dev, python3-grpcio

/** Calls by real clients of gRPC in three languages. */

const debianPython = '/usr/bin/python3'
const goPath = '/usr/share/gocode'

const languages: readonly {
  readonly name: string
  /** Why it cannot be tried here; false = it can. */
  readonly skip: string | false
  open(t: Test, url: string): Caller
}[] = [
  { name: 'JavaScript', skip: false, open: openJsCaller },
  {
    name: 'Python',
    skip:
      spawnSync(debianPython, ['-c', 'import grpc']).status === 0 ? false : 'python3-grpcio is not installed',
    open: (t, url) => startCaller(t, [debianPython, fileOf('client.py')], url),
  },
  {
    name: 'Go',
    skip: existsSync(`${goPath}/src/google.golang.org/grpc`)
      ? false
      : 'golang-google-grpc-dev is not installed',
    open: (t, url) => startCaller(t, [buildGoClient(t)], url),
  },
]

function fileOf(name: string): string {
  return join(import.meta.dirname, name)
}

function buildGoClient(t: Test): string {
  const folder = t.testdir()
  const program = join(folder, 'client')
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath, GOCACHE: join(folder, 'cache') }
  execFileSync('go', ['build', '-o', program, fileOf('client.go')], { env })
  return program
}

/** A gRPC server, a gateway before it, and a client. */
async function start(t: Test, open: (t: Test, url: string) => Caller) {
  const backend = await startGrpcBackend(t)
  const orders = { upstream: 'shop', auth: 'any', maxBody: 'unlimited' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: {
        shop: { targets: [{ url: backend.url }], protocol: 'http2' },
        gone: { targets: [{ url: 'http://127.0.0.1:9' }], protocol: 'http2' },
      },
      routes: [
        { name: 'orders', path: '/shop.Orders', ...orders },
        { name: 'admin', path: '/shop.Admin', ...orders, roles: ['Admin'] },
        { name: 'limited', path: '/shop.Limited', ...orders, rateLimit: { limit: 1, per: '1h' } },
        { name: 'gone', path: '/shop.Gone', upstream: 'gone', auth: 'any' },
      ],
    },
  })
  const account = await gateway.createAccount()
  return { backend, gateway, account, ...open(t, gateway.url) }
}

for (const { name, skip, open } of languages) {
  t.test(`a client in ${name}`, { skip }, async (t) => {
    const { backend, gateway, account, call } = await start(t, open)
    const secretkey = account.secretKey
    const metadata = { secretkey }
    const { JwtToken } = await gateway.tokens(account)

    t.test('makes unary calls and streams of every kind, with its identity', async (t) => {
      const unary = call({ path: '/shop.Orders/unary', kind: 'unary', messages: ['hello'], metadata })
      t.match(await unary.ended, { code: 0, trailers: { 'x-cost': '3' } })
      t.strictSame(unary.received, ['got hello'])
      const failing = call({ path: '/shop.Orders/failing', kind: 'unary', messages: ['hello'], metadata })
      t.match(await failing.ended, { code: 5, details: 'no such order' })

      const messages = Array.from({ length: 50 }, () => 'x'.repeat(20_000))
      const upload = call({ path: '/shop.Orders/upload', kind: 'upload', messages, metadata })
      t.match(await upload.ended, { code: 0 })
      t.strictSame(upload.received, ['1000000'])

      const download = call({ path: '/shop.Orders/download', kind: 'download', messages: ['x'], metadata })
      t.match(await download.ended, { code: 0 })
      t.strictSame(
        download.received,
        Array.from({ length: downloadedMessages }, (_, index) => String(index)),
      )

      const chat = call({ path: '/shop.Orders/chat', kind: 'chat', messages: ['one', 'two'], metadata })
      t.match(await chat.ended, { code: 0 })
      t.strictSame(chat.received, ['echo one', 'echo two'])

      t.equal(backend.seen.length, 5)
      for (const { metadata } of backend.seen) {
        t.strictSame(metadata.get('x-user-id'), [account.account.id])
        t.strictSame(metadata.get('secretkey'), [], 'the key stays here')
      }
    })

    t.test('may send a token, which stays here', async (t) => {
      const authorization = `Bearer ${JwtToken}`
      const messages = ['hello']
      const unary = call({
        path: '/shop.Orders/unary',
        kind: 'unary',
        messages,
        metadata: { authorization },
      })
      t.match(await unary.ended, { code: 0 })
      const { metadata } = backend.seen.at(-1) ?? {}
      t.strictSame(metadata?.get('x-user-id'), [account.account.id])
      t.strictSame(metadata?.get('authorization'), [])
    })

    t.test('is told of refusals and failures by statuses of gRPC', async (t) => {
      const authorization = 'Bearer a.b.c'
      const first = call({ path: '/shop.Limited/x', kind: 'unary', messages: [''], metadata })
      t.match(await first.ended, { code: 12 }, 'the backend knows no such method')
      for (const [path, metadata, code, details] of [
        ['/shop.Orders/unary', {}, 16, 'credentials-missing'],
        ['/shop.Orders/unary', { secretkey: 'gate_sk_no' }, 16, 'secret-key-invalid'],
        ['/shop.Orders/unary', { authorization }, 16, 'token-invalid'],
        ['/shop.Orders/unary', { secretkey, authorization }, 3, 'credentials-ambiguous'],
        ['/shop.Admin/unary', { secretkey }, 7, 'role-forbidden'],
        ['/shop.Unknown/unary', { secretkey }, 12, 'route-not-found'],
        ['/shop.Limited/unary', { secretkey }, 8, 'rate-limited'],
        ['/shop.Gone/unary', { secretkey }, 14, 'upstream-unreachable'],
      ] as const) {
        for (const kind of ['unary', 'chat'] as const) {
          const refused = call({ path, kind, messages: ['hello'], metadata })
          t.match(await refused.ended, { code, details }, `${path} ${kind} ${details}`)
          t.strictSame(refused.received, [])
        }
      }
    })

    t.test('takes its deadline to the backend, which is not asked for longer', async (t) => {
      const before = backend.cancelled()
      const startedAt = Date.now()
      const silent = call({
        path: '/shop.Orders/silent',
        kind: 'unary',
        messages: ['hello'],
        metadata,
        deadlineMs: 300,
      })
      t.match(await silent.ended, { code: 4 })
      const { deadline = 0 } = backend.seen.at(-1) ?? {}
      t.ok(deadline - startedAt <= 1_000, `${deadline - startedAt} ms`)
      await until('it is cancelled at the backend', () => backend.cancelled() === before + 1)
    })

    t.test('cancels its call at the backend too', async (t) => {
      const before = backend.cancelled()
      const chat = call({
        path: '/shop.Orders/chat',
        kind: 'chat',
        messages: ['one'],
        metadata,
        cancelAfter: 1,
        staysOpen: true,
      })
      t.match(await chat.ended, { code: 1 })
      t.strictSame(chat.received, ['echo one'])
      await until('it is cancelled at the backend', () => backend.cancelled() === before + 1)
    })

    t.test('is told that its key was revoked where nothing was answered yet', async (t) => {
      const waiting = await gateway.createAccount()
      const before = { seen: backend.seen.length, cancelled: backend.cancelled() }
      const metadata = { secretkey: waiting.secretKey }
      const messages = ['one']
      const silent = call({ path: '/shop.Orders/silent', kind: 'unary', messages, metadata })
      const upload = call({
        path: '/shop.Orders/upload',
        kind: 'upload',
        messages,
        metadata,
        staysOpen: true,
      })
      await until('both are at the backend', () => backend.seen.length === before.seen + 2)
      await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(waiting.account.id, 0))
      const assertInTime = startPromise(t)
      for (const { ended } of [silent, upload]) t.match(await ended, { code: 16, details: 'revoked' })
      assertInTime()
      await until('both are cancelled at the backend', () => backend.cancelled() === before.cancelled + 2)
    })

    t.test('is told that its key was revoked, and no other is', async (t) => {
      const other = await gateway.createAccount()
      const byKey = await openChat({ call }, { secretkey })
      const byToken = await openChat({ call }, { authorization: `Bearer ${JwtToken}` })
      const kept = await openChat({ call }, { secretkey: other.secretKey })
      await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.account.id, 0))
      const assertInTime = startPromise(t)
      for (const chat of [byKey, byToken]) {
        t.match(await chat.ended, { code: 16, details: 'revoked' })
        t.strictSame(chat.received, ['echo one'])
      }
      assertInTime()
      t.equal(kept.status, undefined)
    })
  })
}
