import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../cli/run.ts'
import { until } from '../setup/net.ts'
import { buildProgram, programMounts } from './support/built-program.ts'
import { startContainer } from './support/container.ts'
import { canMakeHosts, startHost } from './support/host.ts'
import { echoBackend, load } from './support/load.ts'
import { kustomizeBase, manifestOf, memoryBytes, podSpecOf } from './support/manifests.ts'

// needs: iproute2

const skip = canMakeHosts() ? false : 'only root can make the namespaces of a container'

t.test(
  'the Deployment runs as it stands: probes, identity, memory, and an orderly end',
  { skip },
  async (t) => {
    const manifests = kustomizeBase()
    const pod = podSpecOf(manifests)
    const [container] = pod.containers
    t.equal(container.securityContext.readOnlyRootFilesystem, true)

    const host = await startHost(t)
    host.start(['redis-server', '--port', '6379', '--save', '', '--loglevel', 'warning'])
    await until('Redis answers', () =>
      host.run(['redis-cli', 'ping']).then(
        () => true,
        () => undefined,
      ),
    )
    echoBackend(host, 3000)

    const folder = tempFolder(t)
    const sources = {
      config: { 'gateway.yaml': manifestOf(manifests, 'ConfigMap').data?.['gateway.yaml'] ?? '' },
      secrets: {
        'sealing.key': randomBytes(32).toString('base64'),
        'redis-url': 'redis://redis.example.com:6379',
      },
    }
    const mounts = Object.fromEntries(
      container.volumeMounts.map(({ name, mountPath }) => {
        t.ok(pod.volumes.some((volume) => volume.name === name))
        mkdirSync(join(folder, name))
        // The cast is sound: a volume without content here fails the next line.
        for (const [file, text] of Object.entries(sources[name as keyof typeof sources])) {
          writeFileSync(join(folder, name, file), text)
        }
        return [mountPath, { source: join(folder, name) }]
      }),
    )
    const gateway = startContainer(t, host, {
      // The entrypoint of the image.
      command: ['node', 'dist/main.js', ...container.args],
      workingDir: '/app',
      env: Object.fromEntries(container.env.map(({ name, value }) => [name, value])),
      user: { uid: pod.securityContext.runAsUser, gid: pod.securityContext.runAsGroup },
      mounts: { ...programMounts(buildProgram(t), '/app'), ...mounts },
      hosts: ['app', 'redis.example.com'],
    })

    /** The status of a probe, as the kubelet sends it; 0: no connection. */
    async function probe({ httpGet: { path, port } }: typeof container.startupProbe): Promise<number> {
      const number = container.ports.find(({ name }) => name === port)?.containerPort
      const url = `http://127.0.0.1:${number}${path}`
      const { status, output } = await gateway.exec([
        'node',
        '-e',
        `fetch('${url}').then((r) => console.log(r.status))`,
      ])
      return status === 0 ? Number(output) : 0
    }
    for (const name of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      await until(name, async () => {
        if (gateway.child.exitCode !== null) throw new Error(`it has ended: ${gateway.output()}`)
        return (await probe(container[name])) === 200 || undefined
      })
    }

    t.match(await host.run(['cat', `/proc/${gateway.pid}/status`]), /^Uid:\t1000\t1000\t1000\t1000$/m)
    t.match(await host.run(['cat', `/proc/${gateway.pid}/status`]), /^CapEff:\t0+$/m)
    t.match(
      await gateway.exec(['touch', '/app/x'], true),
      { output: /Read-only file system/ },
      'not even root could write',
    )

    const create = ['accounts', 'create', '--email', 'ada@example.com', '--role', 'Admin', '--json']
    const created = await gateway.exec(['node', 'dist/main.js', ...create])
    t.equal(created.status, 0, created.output)
    const { secretKey } = JSON.parse(created.output) as { readonly secretKey: string }
    const answer = await host.run([
      'curl',
      '-sS',
      '-i',
      'http://127.0.0.1:8080/',
      '-H',
      `SecretKey: ${secretKey}`,
    ])
    t.match(answer, /^HTTP\/1\.1 200.*x-user-role":"Admin"/s)

    const loaded = await load(host, { url: 'http://127.0.0.1:8080/', secretKey, requests: 5000 })
    t.equal(loaded.failed, 0)
    const limit = memoryBytes(container.resources.limits.memory)
    const peak = await gateway.peakMemoryBytes()
    t.ok(peak < limit, `${Math.round(peak / 2 ** 20)} MiB at most, of ${limit / 2 ** 20}`)

    const stoppedAt = performance.now()
    gateway.child.kill('SIGTERM')
    await until(
      'not ready any more',
      async () => (await probe(container.readinessProbe)) === 503 || undefined,
    )
    t.equal(await probe(container.livenessProbe), 200, 'alive while it ends')
    const late = await load(host, { url: 'http://127.0.0.1:8080/', secretKey, requests: 100 })
    t.equal(late.failed, 0, 'requests are answered until the cluster has noticed')
    t.equal(await gateway.ended, 0, gateway.output())
    const tookSeconds = (performance.now() - stoppedAt) / 1000
    t.ok(tookSeconds < pod.terminationGracePeriodSeconds - 10, `ended after ${tookSeconds} s`)
  },
)
