import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'

// needs: docker-registry, skopeo

const execute = promisify(execFile)

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-registry-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Debian's docker-registry, with its images in a folder. @returns its URL */
async function startRegistry(t: Test): Promise<string> {
  const folder = newFolder(t)
  const port = await freePort()
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'images') } },
    http: { addr: `127.0.0.1:${port}` },
  }
  const file = join(folder, 'config.yml')
  writeFileSync(file, JSON.stringify(config))
  const child = spawn('docker-registry', ['serve', file], { stdio: 'ignore' })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const url = `http://127.0.0.1:${port}`
  await until('the registry answers', () =>
    fetch(`${url}/v2/`).then(
      ({ ok }) => ok,
      () => undefined,
    ),
  )
  return url
}

/** An image of one layer of some megabytes, as an OCI layout. @returns its folder and the digest of the layer */
function writeImage(t: Test) {
  const folder = newFolder(t)
  const blobs = join(folder, 'blobs', 'sha256')
  mkdirSync(blobs, { recursive: true })
  const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  function save(mediaType: string, content: Buffer | object) {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
    writeFileSync(join(blobs, digestOf(bytes)), bytes)
    return {
      mediaType: `application/vnd.oci.image.${mediaType}`,
      digest: `sha256:${digestOf(bytes)}`,
      size: bytes.length,
    }
  }
  const content = randomBytes(3 * 1_048_576)
  const layer = save('layer.v1.tar+gzip', gzipSync(content))
  const rootfs = { type: 'layers', diff_ids: [`sha256:${digestOf(content)}`] }
  const config = save('config.v1+json', { architecture: 'amd64', os: 'linux', rootfs })
  const manifest = save('manifest.v1+json', { schemaVersion: 2, config, layers: [layer] })
  writeFileSync(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [manifest] }))
  return { folder, layer: layer.digest.slice('sha256:'.length) }
}

/** What is asked of clients where they send nothing. */
async function challengesOf(url: string): Promise<readonly string[]> {
  const response = await fetch(url)
  await response.text()
  return (response.headers.get('www-authenticate') ?? '').split(', ').map((each) => each.split(' ')[0] ?? '')
}

t.test('skopeo logs in, pushes and pulls with a key as its password', async (t) => {
  const registry = { upstream: 'backend', maxBody: 'unlimited' }
  const gateway = await startGateway(t, {
    backend: await startRegistry(t),
    config: {
      routes: [
        { ...registry, name: 'registry', path: '/v2', auth: 'any' },
        { ...registry, name: 'pages', path: '/pages', auth: 'any' },
        { ...registry, name: 'tokens', path: '/v2/tokens', auth: 'bearer' },
      ],
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer', 'basic'] },
    },
  })
  const { secretKey } = await gateway.createAccount()
  const host = new URL(gateway.url).host
  const authFile = join(newFolder(t), 'auth.json')
  const skopeo = (...args: readonly string[]) => execute('skopeo', ['--insecure-policy', ...args])
  const login = (password: string) =>
    skopeo('login', '--tls-verify=false', '--authfile', authFile, '-u', 'any', '-p', password, host)
  const image = `docker://${host}/team/app:1`
  const { folder, layer } = writeImage(t)
  const push = ['copy', '-q', '--dest-tls-verify=false', '--dest-authfile', authFile, `oci:${folder}`, image]

  await t.rejects(login(`${secretKey.slice(0, -1)}_`), {
    message: /unauthorized|invalid username\/password/i,
  })
  await t.rejects(skopeo(...push), 'nothing without a login')
  await login(secretKey)
  await skopeo(...push)
  const pulled = join(newFolder(t), 'pulled')
  await skopeo('copy', '-q', '--src-tls-verify=false', '--src-authfile', authFile, image, `dir:${pulled}`)
  t.ok(readdirSync(pulled).includes(layer))
  t.ok(readFileSync(join(pulled, layer)).equals(readFileSync(join(folder, 'blobs', 'sha256', layer))))

  // docker and containerd follow Bearer wherever it is in the list, and find no token service there.
  t.strictSame(await challengesOf(`${gateway.url}/v2/`), ['SecretKey', 'Basic'])
  t.strictSame(await challengesOf(`${gateway.url}/v2/team/app/manifests/1`), ['SecretKey', 'Basic'])
  t.strictSame(await challengesOf(`${gateway.url}/pages`), ['SecretKey', 'Basic', 'Bearer'])
  t.strictSame(await challengesOf(`${gateway.url}/v2/tokens`), ['Bearer'], 'there is no other')
  const refused = await fetch(`${gateway.url}/v2/`, { headers: { Authorization: 'Bearer x.y.z' } })
  t.match(refused.headers.get('www-authenticate'), /Bearer realm="gatehouse", error="invalid_token"/)
})
