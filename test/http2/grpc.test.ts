import { once } from 'node:events'
import {
  Client,
  credentials,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'

const asIs = (bytes: Buffer): Buffer => bytes

function method(name: string, requestStream: boolean, responseStream: boolean) {
  const path = `/shop.Orders/${name}`
  return {
    ...{ path, requestStream, responseStream, requestSerialize: asIs, requestDeserialize: asIs },
    ...{ responseSerialize: asIs, responseDeserialize: asIs, originalName: name },
  } satisfies MethodDefinition<Buffer, Buffer> & { originalName: string }
}

const service = {
  unary: method('unary', false, false),
  upload: method('upload', true, false),
  download: method('download', false, true),
  chat: method('chat', true, true),
  failing: method('failing', false, false),
}

/** A real gRPC server and a gateway before it. */
async function start(t: Test) {
  const server = new Server()
  const callers: unknown[] = []
  const handlers: UntypedServiceImplementation = {
    unary: (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      callers.push(...call.metadata.get('x-user-id'))
      t.strictSame(call.metadata.get('secretkey'), [], 'the key stays here')
      const trailer = new Metadata()
      trailer.set('x-cost', '3')
      done(null, Buffer.from(`got ${call.request}`), trailer)
    },
    upload: (call: ServerReadableStream<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
      let bytes = 0
      call.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      call.on('end', () => done(null, Buffer.from(String(bytes))))
    },
    download: (call: ServerWritableStream<Buffer, Buffer>) => {
      for (let index = 0; index < 100; index++) call.write(Buffer.from(String(index)))
      call.end()
    },
    chat: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on('data', (chunk: Buffer) => call.write(Buffer.from(`echo ${chunk}`)))
      call.on('end', () => call.end())
    },
    failing: (_call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
      done({ code: status.NOT_FOUND, details: 'no such order' }),
  }
  server.addService(service, handlers)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  t.teardown(() => server.forceShutdown())
  const gateway = await startGateway(t, {
    config: {
      upstreams: { shop: { targets: [{ url: `http://127.0.0.1:${port}` }], protocol: 'http2' } },
      routes: [
        { name: 'orders', path: '/shop.Orders', upstream: 'shop', auth: 'any', maxBody: 'unlimited' },
        { name: 'admin', path: '/shop.Admin', upstream: 'shop', auth: 'any', roles: ['Admin'] },
      ],
    },
  })
  const account = await gateway.createAccount()
  const client = new Client(new URL(gateway.url).host, credentials.createInsecure())
  t.teardown(() => client.close())
  return { gateway, account, client, callers }
}

function metadataOf(fields: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value)
  return metadata
}

/** @returns the response, or the status and its message */
function call(client: Client, path: string, metadata: Metadata): Promise<string> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, asIs, asIs, Buffer.from('hello'), metadata, (error, response) => {
      resolve(error ? `${error.code} ${error.details}` : String(response))
    })
  })
}

t.test('unary calls and streams of every kind pass, with the identity of the caller', async (t) => {
  const { client, account, callers } = await start(t)
  const metadata = metadataOf({ secretkey: account.secretKey })
  t.equal(await call(client, '/shop.Orders/unary', metadata), 'got hello')
  t.strictSame(callers, [account.account.id])
  t.equal(await call(client, '/shop.Orders/failing', metadata), '5 no such order')

  const uploaded = new Promise((resolve, reject) => {
    const upload = client.makeClientStreamRequest(
      '/shop.Orders/upload',
      asIs,
      asIs,
      metadata,
      (error, bytes) => (error ? reject(error) : resolve(String(bytes))),
    )
    for (let index = 0; index < 50; index++) upload.write(Buffer.alloc(20_000))
    upload.end()
  })
  t.equal(await uploaded, '1000000')

  const download = client.makeServerStreamRequest(
    '/shop.Orders/download',
    asIs,
    asIs,
    Buffer.from('x'),
    metadata,
  )
  let received = 0
  for await (const _ of download) received++
  t.equal(received, 100)

  const chat = client.makeBidiStreamRequest('/shop.Orders/chat', asIs, asIs, metadata)
  for (const word of ['one', 'two']) {
    chat.write(Buffer.from(word))
    const [answer] = await once(chat, 'data')
    t.equal(String(answer), `echo ${word}`)
  }
  chat.end()
  const [ended] = await once(chat, 'status')
  t.equal(ended.code, status.OK)
})

t.test('refusals are statuses of gRPC', async (t) => {
  const { client, account } = await start(t)
  const secretkey = account.secretKey
  for (const [path, fields, expected] of [
    ['/shop.Orders/unary', {}, '16 credentials-missing'],
    ['/shop.Orders/unary', { secretkey: 'gate_sk_no' }, '16 secret-key-invalid'],
    ['/shop.Orders/unary', { authorization: 'Bearer a.b.c' }, '16 token-invalid'],
    ['/shop.Orders/unary', { secretkey, authorization: 'Bearer a.b.c' }, '3 credentials-ambiguous'],
    ['/shop.Admin/unary', { secretkey }, '7 role-forbidden'],
    ['/shop.Unknown/unary', { secretkey }, '12 route-not-found'],
  ] as const) {
    t.equal(await call(client, path, metadataOf(fields)), expected)
  }
})

t.test('a backend that cannot be reached is UNAVAILABLE', async (t) => {
  const upstreams = { backend: { targets: [{ url: 'http://127.0.0.1:9' }], protocol: 'http2' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const { secretKey: secretkey } = await gateway.createAccount()
  const client = new Client(new URL(gateway.url).host, credentials.createInsecure())
  t.teardown(() => client.close())
  t.equal(await call(client, '/any/x', metadataOf({ secretkey })), '14 upstream-unreachable')
})

t.test('a revoked key ends its open streams with UNAUTHENTICATED', async (t) => {
  const { client, account, gateway } = await start(t)
  const other = await gateway.createAccount()
  const open = async (secretkey: string) => {
    const chat = client.makeBidiStreamRequest('/shop.Orders/chat', asIs, asIs, metadataOf({ secretkey }))
    const errors: ServiceError[] = []
    chat.on('error', (error: ServiceError) => errors.push(error))
    chat.write(Buffer.from('one'))
    await once(chat, 'data')
    return { chat, errors }
  }
  const revoked = await open(account.secretKey)
  const kept = await open(other.secretKey)
  await gateway.operate(({ keys }) => keys.resetSecretKey(account.account.id, 0))
  const answeredAt = performance.now()
  await until('it is ended', () => revoked.errors.length === 1)
  t.ok(performance.now() - answeredAt < 2_000)
  t.match(revoked.errors[0], { code: status.UNAUTHENTICATED, details: 'revoked' })
  kept.chat.write(Buffer.from('two'))
  await once(kept.chat, 'data')
  t.strictSame(kept.errors, [])
  kept.chat.end()
})
