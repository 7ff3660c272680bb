import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../cli/run.ts'
import { until } from '../setup/net.ts'
import { buildProgram, programMounts } from './support/built-program.ts'
import { type ComposeService, composeServices, composeText } from './support/compose-file.ts'
import { type Container, type ContainerSpec, startContainer } from './support/container.ts'
import { canMakeHosts, type Host, startHost } from './support/host.ts'
import { echoBackend, load } from './support/load.ts'
import { memoryBytes } from './support/manifests.ts'

// needs: docker-compose, iproute2

const skip = canMakeHosts() ? false : 'only root can make the namespaces of a container'
const { gateway: gatewayService, redis: redisService } = composeServices()
if (!gatewayService || !redisService) throw new Error('the services have other names now')

/** The exit status of a health check, run as Docker runs it. */
async function checkHealth(container: Container, { healthcheck }: ComposeService): Promise<number | null> {
  const [kind, ...words] = healthcheck.test.map(composeText)
  const command = kind === 'CMD-SHELL' ? ['/bin/sh', '-c', ...words] : words
  return (await container.exec(command)).status
}

t.test(
  'the services run as they stand: commands, health checks, secrets, and an orderly end',
  { skip },
  async (t) => {
    const folder = tempFolder(t)
    chmodSync(folder, 0o755)
    cpSync('deploy/compose', join(folder, 'compose'), { recursive: true })
    execFileSync('sh', [join(folder, 'compose/make-secrets')])
    const host = await startHost(t)
    echoBackend(host, 3000)

    const redis = startContainer(t, host, {
      ...specOf(redisService, folder),
      command: redisService.command.map(composeText),
      env: {},
      workingDir: '/data',
    })
    await until('Redis is healthy', async () => {
      if (redis.child.exitCode !== null) throw new Error(redis.output())
      return (await checkHealth(redis, redisService)) === 0 || undefined
    })
    t.match(await host.run(['redis-cli', 'ping']), /NOAUTH/, 'nobody gets in without the password')
    t.notMatch(
      await host.run(['cat', `/proc/${redis.pid}/cmdline`]),
      readFileSync(join(folder, 'compose/secrets/redis-password'), 'utf8').trim(),
    )

    const gatewaySpec = specOf(gatewayService, folder)
    const gateway = startContainer(t, host, {
      ...gatewaySpec,
      // The entrypoint of the image.
      command: ['node', 'dist/main.js', ...gatewayService.command],
      env: gatewayService.environment ?? {},
      workingDir: '/app',
      hosts: ['redis', 'host.docker.internal'],
      mounts: { ...programMounts(buildProgram(t), '/app'), ...gatewaySpec.mounts },
    })
    await until('the gateway is healthy', async () => {
      if (gateway.child.exitCode !== null) throw new Error(gateway.output())
      return (await checkHealth(gateway, gatewayService)) === 0 || undefined
    })

    const create = ['accounts', 'create', '--email', 'ada@example.com', '--role', 'Admin', '--json']
    const created = await gateway.exec(['node', 'dist/main.js', ...create])
    t.equal(created.status, 0, created.output)
    const { secretKey } = JSON.parse(created.output) as { readonly secretKey: string }
    t.equal((await load(host, { url: 'http://127.0.0.1:8080/', secretKey, requests: 2000 })).failed, 0)
    const limit = memoryBytes(gatewayService.deploy.resources.limits.memory)
    t.ok((await gateway.peakMemoryBytes()) < limit)
    t.match(await host.run(['cat', `/proc/${gateway.pid}/status`]), /^Uid:\t1000\t1000/m)

    await reloadWithAnotherRoute(host, gateway, join(folder, 'compose/gateway/gateway.yaml'))

    redis.child.kill('SIGTERM')
    t.equal(await redis.ended, 0, 'Redis ends in order')
    const known = await load(host, { url: 'http://127.0.0.1:8080/', secretKey, requests: 100 })
    t.equal(known.failed, 0, 'known callers are served without Redis')
    gateway.child.kill('SIGTERM')
    t.equal(await gateway.ended, 0, gateway.output())

    async function reloadWithAnotherRoute(host: Host, { child }: Container, file: string): Promise<void> {
      const text = readFileSync(file, 'utf8')
      writeFileSync(
        file,
        text.replace('routes:\n', 'routes:\n  - { name: open, path: /open, upstream: app, auth: none }\n'),
      )
      const ask = () =>
        host.run(['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', 'http://127.0.0.1:8080/open'])
      t.equal(await ask(), '401')
      child.kill('SIGHUP')
      await until('the new config is used', async () => (await ask()) === '200' || undefined)
    }
  },
)

/** Who runs, and what is mounted where. */
function specOf(service: ComposeService, folder: string): Pick<ContainerSpec, 'user' | 'mounts'> {
  const [uid = 0, gid = 0] = service.user.split(':').map(Number)
  const writable: Record<string, { source: string; writable: boolean }> = {}
  const volumes = (service.volumes ?? []).map((text) => text.split(':'))
  const kept = volumes.filter(([source = '']) => !source.startsWith('.')).map(([, target = '']) => target)
  const temporary = (service.tmpfs ?? []).map((text) => text.split(':')[0] ?? '')
  for (const target of [...kept, ...temporary]) {
    const source = join(folder, `volume${target.replaceAll('/', '-')}`)
    mkdirSync(source)
    execFileSync('chown', [`${uid}:${gid}`, source])
    writable[target] = { source, writable: true }
  }
  const files = volumes.filter(([source = '']) => source.startsWith('.'))
  const secrets = (service.secrets ?? []).map((name) => [
    `/run/secrets/${name}`,
    { source: join(folder, 'compose/secrets', name.replace('sealing_key', 'sealing.key').replace('_', '-')) },
  ])
  return {
    user: { uid, gid },
    mounts: {
      ...Object.fromEntries(
        files.map(([source = '', target = '']) => [target, { source: join(folder, source) }]),
      ),
      ...Object.fromEntries(secrets),
      ...writable,
    },
  }
}
