import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runClient, startPlace, tempFolder } from './client-gateway.ts'
import { startDavServer } from './dav-server.ts'

// needs: curl

/** curl as a WebDAV client, each call with a key. @returns the status and the body it got */
async function start(t: Test) {
  const place = await startPlace(t, await startDavServer(t))
  const root = tempFolder(t)
  async function dav(method: string, path: string, ...args: readonly string[]) {
    const said = await runClient(
      'curl',
      [
        '-sS',
        '-X',
        method,
        '-H',
        `SecretKey: ${place.secretKey}`,
        '-w',
        '\n%{http_code}',
        ...args,
        place.url + path,
      ],
      { cwd: root },
    )
    const cut = said.stdout.lastIndexOf('\n')
    return {
      status: Number(said.stdout.slice(cut + 1)),
      body: said.stdout.slice(0, cut),
      stderr: said.stderr,
    }
  }
  return { place, root, dav }
}

t.test('a tree is made, copied, moved, listed and taken down', async (t) => {
  const { place, root, dav } = await start(t)
  const file = join(root, 'local.bin')
  writeFileSync(file, randomBytes(2_000_000))
  t.match((await dav('OPTIONS', '/', '-i')).body, /\r\ndav: 1, 2\r\n/i)
  t.equal((await dav('MKCOL', '/docs')).status, 201)
  t.equal((await dav('MKCOL', '/docs')).status, 405)
  t.equal((await dav('PUT', '/docs/a%20b.bin', '-T', file)).status, 201)
  t.equal((await dav('COPY', '/docs/a%20b.bin', '-H', `Destination: ${place.url}/docs/copy.bin`)).status, 201)
  t.equal(
    (await dav('COPY', '/docs/copy.bin', '-H', 'Destination: /docs/copy.bin', '-H', 'Overwrite: F')).status,
    412,
  )
  t.equal((await dav('MOVE', '/docs/copy.bin', '-H', 'Destination: /docs/moved.bin')).status, 201)
  const list = await dav(
    'PROPFIND',
    '/docs',
    '-H',
    'Depth: 1',
    '--data',
    '<propfind xmlns="DAV:"><allprop/></propfind>',
  )
  t.equal(list.status, 207)
  t.strictSame(
    [...list.body.matchAll(/href>([^<]+)</g)].map(([, href]) => href),
    ['/docs', '/docs/a b.bin', '/docs/moved.bin'],
  )
  const there = join(root, 'there.bin')
  t.equal((await dav('GET', '/docs/moved.bin', '-o', there)).status, 200)
  t.ok(readFileSync(there).equals(readFileSync(file)), 'the file is whole')
  t.equal((await dav('PROPPATCH', '/docs', '--data', '<propertyupdate xmlns="DAV:"/>')).status, 207)
  t.equal((await dav('DELETE', '/docs/moved.bin')).status, 204)
  t.equal((await dav('GET', '/docs/moved.bin')).status, 404)
})

t.test('a lock holds others off, and its token opens it', async (t) => {
  const { root, dav } = await start(t)
  const file = join(root, 'f')
  writeFileSync(file, 'text')
  t.equal((await dav('PUT', '/f', '-T', file)).status, 201)
  const locked = await dav(
    'LOCK',
    '/f',
    '-i',
    '-H',
    'Timeout: Second-60',
    '--data',
    '<lockinfo xmlns="DAV:"/>',
  )
  const [, token = ''] = /\r\nlock-token: <([^>]+)>/i.exec(locked.body) ?? []
  t.not(token, '')
  t.equal((await dav('PUT', '/f', '-T', file)).status, 423)
  t.equal((await dav('PUT', '/f', '-T', file, '-H', `If: (<${token}>)`)).status, 204)
  t.equal((await dav('UNLOCK', '/f', '-H', `Lock-Token: <${token}>`)).status, 204)
  t.equal((await dav('PUT', '/f', '-T', file)).status, 204)
})
