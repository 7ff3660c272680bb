import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { type Certificate, makeCertificate } from '../setup/certificates.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { nginxArgs, writeNginxConfig } from '../setup/nginx.ts'

/** The name in the certificate, and in the files in place of `api.example.com`. */
const siteName = 'localhost'

/** How a front is started with a file of deploy/fronts. */
export interface FrontKind {
  readonly name: string
  /** File of deploy/fronts. */
  readonly file: string
  /** The file with paths and ports of a test. */
  adapt(text: string, place: FrontPlace): string
  /** Prepares the folder. @returns the command line */
  command(config: string, place: FrontPlace): readonly [program: string, ...args: string[]]
  /** As the head of the file says. @param pid of what was started */
  reload(place: FrontPlace, pid: number): Promise<void>
}

export interface FrontPlace {
  readonly folder: string
  readonly port: number
  /** PEM files; `pair` has both. */
  readonly cert: string
  readonly key: string
  readonly pair: string
}

export interface RunningFront {
  readonly url: string
  readonly port: number
  /** File with the certificate to trust, and its text. */
  readonly caFile: string
  readonly ca: string
  /** Takes another certificate, and reloads. @returns the new file to trust, and what ends when the command does */
  renew(): { readonly caFile: string; readonly reloaded: Promise<void> }
}

export const runFile = promisify(execFile)

/** Starts a real front before a gateway with its file of deploy/fronts; it ends with the test. */
export async function startFront(t: Test, kind: FrontKind, gateway: TestGateway): Promise<RunningFront> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-front-'))
  const certificate = makeCertificate(t, `DNS:${siteName}`)
  const place: FrontPlace = {
    folder,
    port: await freePort(),
    cert: join(folder, 'site.crt'),
    key: join(folder, 'site.key'),
    pair: join(folder, 'site.pem'),
  }
  writeCertificate(place, certificate)
  const caFile = join(folder, 'first.crt')
  writeFileSync(caFile, certificate.cert)
  const text = kind.adapt(withGateway(kind.file, gateway), place)
  const [program, ...args] = kind.command(text, place)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  t.teardown(async () => {
    child.kill('SIGTERM')
    await until(`${kind.name} has ended`, () => child.exitCode !== null || child.signalCode !== null, 20_000)
    rmSync(folder, { recursive: true, force: true })
  })
  const url = `https://${siteName}:${place.port}`
  await until(
    `${kind.name} answers`,
    async () => {
      if (child.exitCode !== null) throw new Error(`${kind.name} has ended: ${output}`)
      const asked = await curl({ url, port: place.port, caFile }, '/nowhere').catch(() => undefined)
      return asked?.status === 404 || undefined
    },
    20_000,
  )
  return {
    url,
    port: place.port,
    caFile,
    ca: certificate.cert,
    renew: () => {
      const renewed = makeCertificate(t, `DNS:${siteName}`)
      writeCertificate(place, renewed)
      const caFile = join(folder, 'renewed.crt')
      writeFileSync(caFile, renewed.cert)
      return { caFile, reloaded: kind.reload(place, child.pid ?? 0) }
    },
  }
}

function writeCertificate({ cert, key, pair }: FrontPlace, certificate: Certificate): void {
  writeFileSync(cert, certificate.cert)
  writeFileSync(key, certificate.key)
  writeFileSync(pair, certificate.cert + certificate.key)
}

/** A file as people copy it, with the addresses of a test. */
function withGateway(file: string, { url, opsUrl }: TestGateway): string {
  const text = readFileSync(join('deploy/fronts', file), 'utf8')
  for (const required of ['127.0.0.1:8080', 'api.example.com'])
    if (file !== 'haproxy.cfg' && !text.includes(required)) throw new Error(`${file} lacks ${required}`)
  return text
    .replaceAll('127.0.0.1:8080', new URL(url).host)
    .replaceAll('port 9090', `port ${new URL(opsUrl).port}`)
}

export interface CurlAnswer {
  readonly status: number
  /** `1.1` or `2`. */
  readonly version: string
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One request by curl, over HTTP/2 unless told otherwise. */
export async function curl(
  { url, port, caFile }: Pick<RunningFront, 'url' | 'port' | 'caFile'>,
  path: string,
  {
    headers = [],
    args = [],
  }: { readonly headers?: readonly string[]; readonly args?: readonly string[] } = {},
): Promise<CurlAnswer> {
  const { stdout } = await runFile(
    'curl',
    [
      ...['-sS', '-i', '--max-time', '30', '--cacert', caFile],
      ...['--resolve', `${siteName}:${port}:127.0.0.1`, '--path-as-is', '-H', 'Expect:'],
      ...headers.flatMap((header) => ['-H', header]),
      ...args,
      url + path,
    ],
    { maxBuffer: 64 * 1_048_576, encoding: 'latin1' },
  )
  const end = stdout.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = stdout.slice(0, end).split('\r\n')
  const [, version = '', status = '0'] = /^HTTP\/(\S+) (\d+)/.exec(statusLine) ?? []
  return {
    status: Number(status),
    version,
    headers: Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    ),
    body: stdout.slice(end + 4),
  }
}

/** Replaces what must be there. */
export function replaced(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`there is no ${from}`)
    return changed.replaceAll(from, to)
  }, text)
}

export const nginx: FrontKind = {
  name: 'nginx',
  file: 'nginx.conf',
  adapt: (text, { port, cert, key }) =>
    replaced(text, {
      'listen 443 ssl http2': `listen 127.0.0.1:${port} ssl http2`,
      'api.example.com': siteName,
      '/etc/ssl/gatehouse/site.crt': cert,
      '/etc/ssl/gatehouse/site.key': key,
    }),
  command: (config, { folder }) => ['nginx', ...writeNginxConfig(folder, config)],
  reload: async ({ folder }) => {
    await runFile('nginx', [...nginxArgs(folder), '-t'])
    await runFile('nginx', [...nginxArgs(folder), '-s', 'reload'])
  },
}

export const haproxy: FrontKind = {
  name: 'HAProxy',
  file: 'haproxy.cfg',
  adapt: (text, { port, pair }) =>
    replaced(text, { 'bind :443': `bind 127.0.0.1:${port}`, '/etc/haproxy/site.pem': pair }),
  command: (config, { folder }) => {
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    return ['haproxy', '-W', '-f', join(folder, 'haproxy.cfg')]
  },
  reload: async ({ folder }, pid) => {
    await runFile('haproxy', ['-c', '-f', join(folder, 'haproxy.cfg')])
    process.kill(pid, 'SIGUSR2')
  },
}

const caddyAdmin = (folder: string) => `unix/${join(folder, 'admin.sock')}`

export const caddy: FrontKind = {
  name: 'Caddy',
  file: 'Caddyfile',
  adapt: (text, { folder, port, cert, key }) =>
    replaced(text, {
      // Several may run at once, and each would have the same addresses.
      'grace_period 30s': `grace_period 30s\n\tadmin ${caddyAdmin(folder)}\n\thttps_port ${port}\n\tauto_https disable_redirects`,
      'api.example.com {': `${siteName} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`,
    }),
  command: (config, { folder }) => {
    writeFileSync(join(folder, 'Caddyfile'), config)
    return ['caddy', 'run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')]
  },
  reload: async ({ folder }) => {
    const file = join(folder, 'Caddyfile')
    await runFile('caddy', [
      'reload',
      '--force',
      '--address',
      caddyAdmin(folder),
      '--config',
      file,
      '--adapter',
      'caddyfile',
    ])
  },
}
