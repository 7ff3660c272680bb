import t from 'tap'
import type { LoadedConfig } from '#config/load.ts'
import { answerOf, startHeadBackend } from '../http/outgoing/backends.ts'
import { startBoth } from '../setup/both.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { until } from '../setup/net.ts'
import { reloadWith, taken } from './support/reload.ts'
import { certificateFiles, connectTls } from './support/tls.ts'

const names = 'DNS:localhost,IP:127.0.0.1'
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

t.test('a config with an unusable certificate changes nothing, and leaks nothing', async (t) => {
  const [old, next] = [makeCertificate(t, names), makeCertificate(t, names)]
  const { tls } = certificateFiles(t, old)
  const seenAt: number[] = []
  const checked = await startHeadBackend(t, ({ socket, path }) => {
    if (path === '/healthz') seenAt.push(performance.now())
    socket.end(answerOf('ok'))
  })
  let isMixed = true
  // No review lets such a pair through: this is what comes after it.
  const onReread = (loaded: LoadedConfig): LoadedConfig => {
    const { config } = loaded
    const mixed = { cert: next.cert, key: old.key, clientCa: undefined }
    return isMixed ? { ...loaded, config: { ...config, listen: { ...config.listen, tls: mixed } } } : loaded
  }
  const config = { listen: { port: 0, tls } }
  const gateway = await startBoth(t, { config, onReread })
  const ask = async (path: string) => {
    const client = await connectTls(t, gateway.url, { ca: old.cert })
    return (await client.send(head(path)).response()).status
  }
  const linesOf = (path: string) =>
    gateway.logLines.filter((line) => line.includes(`"path":"${path}"`)).length
  const health = { active: { path: '/healthz', interval: '1s' } }
  const other = {
    log: { level: 'warn' },
    listen: { port: 0, tls, keepAliveTimeout: '77s' },
    routes: [{ name: 'new', path: '/new', upstream: 'new', auth: 'none' }],
    upstreams: { new: { targets: [{ url: checked.url }], health } },
  }
  const { code, status, problems } = await reloadWith(gateway, other)
  t.match({ code, status, problems }, { code: 503, status: 'failed', problems: [/key values mismatch/] })
  t.equal(await ask('/new'), 404)
  const client = await connectTls(t, gateway.url, { ca: old.cert })
  const { status: found, headers } = await client.send(head('/public')).response()
  t.equal(found, 200)
  t.not(headers['keep-alive'], 'timeout=77')
  await until('it is still logged', () => linesOf('/public') === 1 || undefined)
  isMixed = false
  t.match(await reloadWith(gateway, {}), taken)
  t.equal(await ask('/new'), 200, 'it is taken once it can be')
  await until('its targets are checked', () => seenAt.length >= 4 || undefined)
  // Three intervals lie between them; were those of the failed one checked too it would be two at most.
  const between = (seenAt[3] ?? 0) - (seenAt[0] ?? 0)
  t.ok(between > 2_200, `${between} ms`)
})
