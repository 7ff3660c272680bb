import { spawn } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { program, type Ready, textOf } from '../cli/run.ts'
import { createWorkspace } from '../cli/workspace.ts'
import { readMetrics } from '../gateway/support/metrics.ts'
import { certificateFiles } from '../gateway/support/tls.ts'
import { startServer } from '../setup/backend.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { until } from '../setup/net.ts'

t.test('the gateway survives running out of file descriptors, and serves afterwards', async (t) => {
  const { url, opsUrl, child, log } = await startWithFewDescriptors(t)
  const { port, hostname } = new URL(url)
  const sockets: Socket[] = []
  for (let index = 0; index < 300; index++) {
    sockets.push(connect({ port: Number(port), host: hostname }).on('error', () => {}))
  }
  await until('no more are taken', () => sockets.filter(({ connecting }) => !connecting).length > 100)
  const answers = new Set<Socket>()
  for (const socket of sockets) {
    socket.on('data', () => answers.add(socket))
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n')
  }
  await until('those that were taken are served', () => answers.size > 5)
  // Before they go: a gateway that is slow to take them would never have too many.
  await until('the others are dropped', () => log().includes('connections dropped'))
  t.equal(child.exitCode, null)
  t.ok(answers.size < 300)
  for (const socket of sockets) socket.destroy()
  await until('others are served', async () => {
    const answer = await fetch(`${url}/x`).catch(() => undefined)
    return answer?.status === 401
  })
  t.notMatch(log(), '"level":"fatal"')
  const dropped = (await readMetrics(opsUrl)).value('gatehouse_connections_dropped_total')
  t.ok(dropped > 0, 'they are counted')
  t.ok(log().split('connections dropped').length < 5, 'the log does not repeat it for each')
})

t.test('the gateway running out of file descriptors ejects no target', async (t) => {
  // It answers nothing, so that connections stay.
  const backend = await startServer(t, () => {})
  const passive = { maxFailures: 1, window: '10s', ejectFor: '1h' }
  const { url, log } = await startWithFewDescriptors(t, {
    upstreams: { backend: { targets: [{ url: backend }], health: { passive } } },
    routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none' }],
  })
  const { port, hostname } = new URL(url)
  const open = new Set<Socket>()
  for (let index = 0; index < 100; index++) {
    const socket = connect({ port: Number(port), host: hostname }).on('error', () => {})
    open.add(socket.on('close', () => open.delete(socket)))
    t.teardown(() => socket.destroy())
  }
  // The requests come only once it has taken as many as it can: then there are not enough for the target.
  await until('it takes no more connections', () => open.size < 60)
  for (const socket of open) socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n')
  await until('connections to the target could not be made', () => log().includes('EMFILE') || undefined)
  t.match(log(), /"status":503,.*"code":"upstream-unavailable".*EMFILE/)
  t.notMatch(log(), 'target ejected')
})

t.test(
  'connections in their TLS handshake are dropped like others, before descriptors run out',
  async (t) => {
    const { tls } = certificateFiles(t, makeCertificate(t, 'IP:127.0.0.1'))
    const { url, opsUrl, log } = await startWithFewDescriptors(t, { listen: { port: 0, tls } })
    const { port, hostname } = new URL(url)
    for (let index = 0; index < 150; index++) {
      const socket = connect({ port: Number(port), host: hostname }).on('error', () => {})
      t.teardown(() => socket.destroy())
    }
    await until('the others are dropped', () => log().includes('connections dropped'))
    const dropped = (await readMetrics(opsUrl)).value('gatehouse_connections_dropped_total')
    t.ok(dropped > 0, 'they are counted')
  },
)

/** A gateway that may have 100 file descriptors: it takes twice as many clients as it keeps free for targets. */
async function startWithFewDescriptors(t: Test, options?: Parameters<typeof createWorkspace>[1]) {
  const { config, folder } = createWorkspace(t, options)
  const readyFile = join(folder, 'ready.json')
  const args = [program, 'serve', '--config', config, '--ready-file', readyFile]
  const command = 'ulimit -n 100; exec "$0" "$@"'
  const child = spawn('sh', ['-c', command, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  child.stdout.on('data', (text) => {
    log += String(text)
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ready = JSON.parse(await until('it is ready', () => textOf(readyFile))) as Ready
  return { ...ready, child, log: () => log }
}
