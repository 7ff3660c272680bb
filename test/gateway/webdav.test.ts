import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { type DavBackend, startDavBackend } from './support/dav-backend.ts'

// needs: rclone

const route = { upstream: 'backend', auth: 'any', maxBody: 'unlimited' }

/** A gateway before Apache, and what sends requests with the key of an account. */
async function start(
  t: Test,
  backend: DavBackend,
  options: Readonly<Record<string, unknown>>,
  host = 'client',
) {
  const upstreams = { backend: { targets: [{ url: backend.url }], host } }
  const gateway = await startGateway(t, { config: { upstreams, ...options } })
  const { secretKey } = await gateway.createAccount()
  const send = (line: string, headers: readonly string[] = [], body?: string) =>
    ask(t, gateway.url, line, [`SecretKey: ${secretKey}`, ...headers], body)
  return { gateway, secretKey, send }
}

for (const host of ['client', 'target']) {
  t.test(`files are copied and moved behind a stripped prefix, host: ${host}`, async (t) => {
    const backend = await startDavBackend(t)
    const routes = [{ ...route, name: 'files', path: '/files', stripPrefix: true }]
    const { send } = await start(t, backend, { routes }, host)
    const origin = 'http://gateway.test'

    t.equal((await send('MKCOL /files/a')).status, 201)
    const put = await send('PUT /files/a/x.txt', [], 'hello')
    t.match(put, { status: 201, headers: { location: `${origin}/files/a/x.txt` } })
    const copied = await send('COPY /files/a/x.txt', [`Destination: ${origin}/files/a/y%20z.txt`])
    t.match(copied, { status: 201, headers: { location: `${origin}/files/a/y%20z.txt` } })
    const moved = await send('MOVE /files/a/x.txt', [`Destination: ${origin}/files/m.txt`, 'Overwrite: F'])
    t.match(moved, { status: 201, headers: { location: `${origin}/files/m.txt` } })
    // A path alone, which mod_dav itself refuses.
    t.equal((await send('MOVE /files/m.txt', ['Destination: /files/n.txt'])).status, 201)
    t.equal((await send('MOVE /files/a/', [`Destination: ${origin}/files/b/`])).status, 201)

    t.equal(readFileSync(join(backend.files, 'b', 'y z.txt'), 'utf8'), 'hello')
    t.equal(readFileSync(join(backend.files, 'n.txt'), 'utf8'), 'hello')
    for (const gone of ['a', 'm.txt']) t.notOk(existsSync(join(backend.files, gone)))
    const found = await send('GET /files/b')
    t.match(found, { status: 301, headers: { location: `${origin}/files/b/` } })
  })
}

t.test('a file is moved where a proxy in front terminates TLS', async (t) => {
  const backend = await startDavBackend(t)
  // Apache does not read X-Forwarded-Proto.
  const routes = [{ ...route, name: 'files', path: '/files', stripPrefix: true, destination: 'target' }]
  for (const [options, headers] of [
    [{ publicUrl: 'https://gateway.test' }, []],
    [{ trustedProxies: ['127.0.0.1'] }, ['X-Forwarded-Proto: https']],
  ] as const) {
    const { send } = await start(t, backend, { routes, ...options })
    await send('PUT /files/x.txt', headers, 'hello')
    const moved = await send('MOVE /files/x.txt', [
      ...headers,
      'Destination: https://gateway.test/files/y.txt',
    ])
    t.ok([201, 204].includes(moved.status), 'made or replaced')
    t.equal(readFileSync(join(backend.files, 'y.txt'), 'utf8'), 'hello')
  }
})

async function moveLocked(t: Test, stripPrefix: boolean): Promise<void> {
  const backend = await startDavBackend(t, stripPrefix ? '/' : '/dav')
  const { send } = await start(t, backend, {
    routes: [{ ...route, name: 'dav', path: '/dav', stripPrefix }],
  })
  await send('PUT /dav/x.txt', [], 'hello')
  const lock =
    '<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>'
  const locked = await send('LOCK /dav/x.txt', ['Content-Type: application/xml', 'Timeout: Second-60'], lock)
  t.equal(locked.status, 200)
  const token = locked.headers['lock-token'] ?? ''
  const destination = 'Destination: http://gateway.test/dav/y.txt'
  t.equal((await send('MOVE /dav/x.txt', [destination])).status, 423)
  t.equal(
    (await send('MOVE /dav/x.txt', [destination, `If: <http://gateway.test/dav/x.txt> (${token})`])).status,
    201,
  )
}

t.test('a locked file is moved by who has the token', (t) => moveLocked(t, false))

t.test('a locked file is moved by who has the token, on a route that strips its prefix', (t) =>
  moveLocked(t, true),
)

const runFile = promisify(execFile)

/** rclone, with a WebDAV remote that has the key of an account. */
function rcloneOf(t: Test, gateway: TestGateway, secretKey: string) {
  const folder = t.testdir({ here: { 'one.txt': 'one', deep: { 'two.txt': 'two' } }, there: {} })
  writeFileSync(
    join(folder, 'rclone.conf'),
    `[dav]\ntype = webdav\nurl = ${gateway.url}/dav\nvendor = other\nheaders = SecretKey,${secretKey}\n`,
  )
  const rclone = async (...args: readonly string[]) => {
    const flags = ['--config', join(folder, 'rclone.conf'), '--retries', '1', '--low-level-retries', '1']
    return (await runFile('rclone', [...flags, ...args], { cwd: folder })).stdout
  }
  return { folder, rclone }
}

t.test('rclone copies, lists, moves and deletes through the gateway', async (t) => {
  // Listings have the paths of the backend: it serves the same ones.
  const backend = await startDavBackend(t, '/dav')
  const { gateway, secretKey } = await start(t, backend, {
    routes: [{ ...route, name: 'dav', path: '/dav' }],
  })
  const { folder, rclone } = rcloneOf(t, gateway, secretKey)
  await rclone('copy', 'here', 'dav:files')
  t.equal(readFileSync(join(backend.files, 'files', 'deep', 'two.txt'), 'utf8'), 'two')
  t.strictSame((await rclone('lsf', '-R', '--files-only', 'dav:files')).trim().split('\n').toSorted(), [
    'deep/two.txt',
    'one.txt',
  ])
  // On the server, with COPY and MOVE.
  await rclone('copyto', 'dav:files/one.txt', 'dav:files/copied one.txt')
  await rclone('moveto', 'dav:files/deep', 'dav:files/moved')
  await rclone('copy', 'dav:files', 'there')
  t.strictSame((await rclone('lsf', '-R', '--files-only', 'there')).trim().split('\n').toSorted(), [
    'copied one.txt',
    'moved/two.txt',
    'one.txt',
  ])
  await rclone('purge', 'dav:files')
  t.notOk(existsSync(join(backend.files, 'files')))
  t.ok(folder)
  const methods = new Set(backend.log().map((line) => line.split(' ')[0]))
  for (const method of ['PROPFIND', 'MKCOL', 'PUT', 'COPY', 'MOVE', 'DELETE'])
    t.ok(methods.has(method), method)
})
