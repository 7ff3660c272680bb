import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { until } from '../setup/net.ts'
import { buildProgram, programMounts } from './support/built-program.ts'
import { startContainer } from './support/container.ts'
import { canMakeHosts, startHost } from './support/host.ts'
import { echoBackend, load } from './support/load.ts'
import { readUnit } from './support/unit-file.ts'

// needs: systemd-analyze

const unitFile = 'deploy/gatehouse.service'
const unit = readUnit(unitFile)
const skip = canMakeHosts() ? false : 'only root can make the namespaces of a service'

t.test('systemd accepts every line of the unit, and finds a wrong one', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-unit-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  /** What systemd says, with programs that are there in place of those that the unit runs. */
  function verify(text: string): string {
    const file = join(folder, 'gatehouse.service')
    writeFileSync(file, text.replace('/opt/gatehouse/bin/gatehouse', '/bin/true'))
    const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
      encoding: 'utf8',
    })
    return stdout + stderr
  }
  const text = readFileSync(unitFile, 'utf8')
  t.equal(verify(text), '')
  t.match(verify(text.replace('ProtectSystem=', 'ProtectSytem=')), /Unknown key/)
  t.match(verify(text.replace('RestartSec=1', 'RestartSec=soon')), /Failed to parse/)
})

t.test('systemd rates the exposure of the unit below 2 of 10', async (t) => {
  const output = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unitFile], {
    encoding: 'utf8',
  })
  t.match(output, /Overall exposure level for gatehouse.service: 1\.\d/)
})

t.test(
  'the service runs as its user on a read-only system, reloads, and ends in time',
  { skip },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-service-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    const state = join(folder, 'state')
    const user = { uid: 990, gid: 990 }
    mkdirSync(state, { mode: Number.parseInt(unit.value('StateDirectoryMode'), 8) })
    execFileSync('chown', ['990:990', state])
    mkdirSync(join(folder, 'etc'))
    const stateFolder = `/var/lib/${unit.value('StateDirectory')}`
    const config = (routes: string) => `
upstreams: { app: { targets: [{ url: http://127.0.0.1:3000 }] } }
routes: [${routes}]
keys: { sealingKey: { file: ${stateFolder}/sealing.key } }
store: { sqlite: { path: ${stateFolder}/gatehouse.db } }
`
    const configFile = join(folder, 'etc/gateway.yaml')
    writeFileSync(configFile, config('{ name: app, path: /, upstream: app, auth: any }'))

    const prefix = join(folder, 'prefix')
    mkdirSync(join(prefix, 'lib/node_modules/@gatehouse-proxy/gateway'), { recursive: true })
    mkdirSync(join(prefix, 'bin'))
    symlinkSync(
      '../lib/node_modules/@gatehouse-proxy/gateway/bin/gatehouse.cjs',
      join(prefix, 'bin/gatehouse'),
    )

    const host = await startHost(t)
    echoBackend(host, 3000)
    const service = startContainer(t, host, {
      command: unit.words('ExecStart'),
      env: {},
      workingDir: '/',
      user,
      mounts: {
        // As `npm install --global --prefix /opt/gatehouse` leaves it.
        '/opt/gatehouse': { source: prefix },
        ...programMounts(buildProgram(t), '/opt/gatehouse/lib/node_modules/@gatehouse-proxy/gateway'),
        '/etc/gatehouse': { source: join(folder, 'etc') },
        [stateFolder]: { source: state, writable: true },
      },
    })
    const status = (path: string) =>
      host
        .run(['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', `http://127.0.0.1:${path}`])
        .catch(() => '')
    await until('the service is ready', async () => {
      if (service.child.exitCode !== null) throw new Error(service.output())
      return (await status('9090/readyz')) === '200' || undefined
    })
    t.match(await host.run(['cat', `/proc/${service.pid}/status`]), /^Uid:\t990\t990\t990\t990$/m)

    const [program = '', , ...options] = unit.words('ExecStart')
    const create = ['accounts', 'create', '--email', 'ada@example.com', '--json']
    const created = await service.exec([program, ...create, ...options])
    t.equal(created.status, 0, created.output)
    const { secretKey } = JSON.parse(created.output) as { readonly secretKey: string }
    t.equal((await load(host, { url: 'http://127.0.0.1:8080/', secretKey, requests: 500 })).failed, 0)

    t.equal(await status('8080/open'), '401')
    const both =
      '{ name: app, path: /, upstream: app, auth: any }, { name: open, path: /open, upstream: app, auth: none }'
    writeFileSync(configFile, config(both))
    const reload = unit.words('ExecReload').map((word) => word.replace('$MAINPID', String(service.pid)))
    t.equal((await service.exec(reload)).status, 0)
    await until('the new config is used', async () => (await status('8080/open')) === '200' || undefined)

    const stoppedAt = performance.now()
    service.child.kill('SIGTERM')
    t.equal(await service.ended, 0, service.output())
    t.ok(performance.now() - stoppedAt < 1000 * Number(unit.value('TimeoutStopSec')))
  },
)
