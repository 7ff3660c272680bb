import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type ClientPlace, runClient, startPlace, tempFolder } from './client-gateway.ts'
import { startRegistry } from './npm-registry.ts'

const scoped = '@gatehouse-test/thing'

async function start(t: Test) {
  const registry = await startRegistry(t)
  const place = await startPlace(t, registry.url, { encodedSlash: 'pass' })
  return { registry, place, root: tempFolder(t) }
}

/** npm with the registry behind the gateway, and a token as it sends one to registries. */
function npm(cwd: string, { url, accessToken }: ClientPlace, ...args: readonly string[]) {
  const host = url.replace('http:', '')
  writeFileSync(join(cwd, '.npmrc'), `registry=${url}/\n${host}/:_authToken=${accessToken}\n`)
  const quiet = ['--no-audit', '--no-fund', '--fetch-retries=0', '--cache', `${cwd}.cache`]
  return runClient('npm', [...args, ...quiet], { cwd })
}

function writePackage(root: string, name: string, manifest: object): string {
  const folder = join(root, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: '1.2.3', ...manifest }))
  return folder
}

t.test('npm publishes and installs a scoped package of some size', async (t) => {
  const { registry, place, root } = await start(t)
  const thing = writePackage(root, 'thing', { name: scoped })
  writeFileSync(join(thing, 'data.bin'), randomBytes(3_000_000))
  const published = await npm(thing, place, 'publish', '--access', 'public')
  t.equal(published.status, 0, published.stderr)

  const user = writePackage(root, 'user', { name: 'user', dependencies: { [scoped]: '^1.0.0' } })
  const installed = await npm(user, place, 'install')
  t.equal(installed.status, 0, installed.stderr)
  const data = readFileSync(join(user, 'node_modules', scoped, 'data.bin'))
  t.ok(data.equals(readFileSync(join(thing, 'data.bin'))), 'it is whole')

  const names = registry.asked.map(({ method, target }) => `${method} ${target.split('?')[0]}`)
  t.ok(names.includes('PUT /@gatehouse-test%2fthing'), 'the encoded slash came as it was sent')
  t.ok(names.includes('GET /@gatehouse-test%2fthing'))
  t.strictSame([...new Set(registry.asked.map(({ user }) => user))], [place.accountId])
})

t.test('without a token npm gets nothing', async (t) => {
  const { registry, place, root } = await start(t)
  const user = writePackage(root, 'user', { name: 'user' })
  const refused = await npm(user, { ...place, accessToken: 'wrong' }, 'view', scoped)
  t.not(refused.status, 0)
  t.match(refused.stderr, /E401/)
  t.strictSame(registry.asked, [])
})
