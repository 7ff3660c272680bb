// slow: bundles the program twice, and writes 150 MB each time

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { textOf } from '../cli/run.ts'
import { until } from '../setup/net.ts'

const binary = resolve(`binaries/gatehouse-${process.platform}-${process.arch}`)

/** Without what a run of the tests tells its children, and without a Node on PATH. */
const env = { PATH: '/usr/bin:/bin' }

async function digestOfBuild(): Promise<string> {
  execFileSync('env', ['-u', 'NODE_OPTIONS', process.execPath, 'tools/build-binary.ts'], { stdio: 'ignore' })
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(binary)) digest.update(chunk as Buffer)
  return digest.digest('hex')
}

const digest = await digestOfBuild()

interface Ready {
  readonly url: string
  readonly opsUrl: string
  readonly pid: number
}

async function serve(
  t: Test,
  folder: string,
  args: readonly string[],
): Promise<Ready & { stop(): Promise<number> }> {
  const readyFile = join(folder, 'ready.json')
  const options = ['--ready-file', readyFile, '--set', 'listen.port=0', '--set', 'ops.port=0', ...args]
  const child = spawn(binary, ['serve', '--demo', ...options], { cwd: folder, env, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const text = await until('it is ready', () => textOf(readyFile))
  return {
    ...(JSON.parse(text) as Ready),
    stop: async () => {
      child.kill('SIGTERM')
      const [status] = (await once(child, 'exit')) as [number]
      return status
    },
  }
}

function emptyFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-binary-test-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

t.test('the binary is the same each time it is built', async (t) => {
  t.equal(await digestOfBuild(), digest)
})

t.test('the binary serves its demo in an empty folder, with every page and asset in it', async (t) => {
  const folder = emptyFolder(t)
  const { url, opsUrl, pid, stop } = await serve(t, folder, [])
  t.equal((await fetch(`${url}/hello`)).status, 401)
  const page = await (await fetch(`${url}/portal/sign-in`)).text()
  const [style = ''] = /\/portal\/assets\/[\w-]+\.css/.exec(page) ?? []
  const styles = await fetch(url + style)
  t.equal(styles.status, 200)
  t.ok((await styles.text()).length > 10_000)
  t.match(await (await fetch(`${opsUrl}/status`)).text(), '<style>')
  // Its own first process: no Node stands between it and its signals.
  t.match(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), binary)
  t.equal(await stop(), 0)
  t.notOk(existsSync(join(folder, 'node_modules')), 'it writes nothing but its data')
})

t.test('the binary runs several workers', async (t) => {
  const { url, stop } = await serve(t, emptyFolder(t), ['--set', 'listen.workers=2'])
  t.equal((await fetch(`${url}/hello`)).status, 401)
  t.equal(await stop(), 0)
})

t.test('the commands of the binary work on the data of its demo', async (t) => {
  const folder = emptyFolder(t)
  const { stop } = await serve(t, folder, [])
  const run = (...args: string[]) => execFileSync(binary, args, { cwd: folder, env, encoding: 'utf8' })
  t.match(
    run(
      'accounts',
      'list',
      '--config',
      join(folder, 'data/demo/gateway.yaml'),
      '--set',
      `store.sqlite.path=${join(folder, 'data/demo/gatehouse.db')}`,
      '--set',
      `keys.sealingKey.file=${join(folder, 'data/demo/sealing.key')}`,
    ),
    'admin@localhost',
  )
  t.match(run('--version'), JSON.parse(readFileSync('package.json', 'utf8')).version)
  t.match(run('config', 'schema'), '"$schema"')
  writeFileSync(join(folder, 'broken.yaml'), 'routes: 1\n')
  const { status, stdout } = spawnSync(binary, ['check', '--config', 'broken.yaml'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  t.match({ status, stdout }, { status: 1, stdout: 'broken.yaml:1' })
  t.equal(await stop(), 0)
})
