import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { askForReload, taken } from '../../gateway/support/reload.ts'
import { connectTls } from '../../gateway/support/tls.ts'
import { startBackend } from '../../setup/backend.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { until } from '../../setup/net.ts'
import { serveFleet } from './fleet.ts'

const names = 'DNS:localhost,IP:127.0.0.1'
const head = 'GET /x HTTP/1.1\r\nHost: x\r\n\r\n'

t.test("workers resume each other's TLS sessions, and change certificates together", async (t) => {
  const [old, next] = [makeCertificate(t, names), makeCertificate(t, names)]
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, {
    backend: backend.url,
    config: { listen: { tls: { cert: { file: 'tls.crt' }, key: { file: 'tls.key' } } } },
    files: { 'tls.crt': old.cert, 'tls.key': old.key },
  })
  t.match(fleet.url, /^https:/)
  const first = await connectTls(t, fleet.url, { ca: old.cert, maxVersion: 'TLSv1.2' })
  t.equal((await first.send(head).response()).status, 200)
  const session = first.socket.getSession()
  await until('both have answered', async () => {
    const client = await connectTls(t, fleet.url, { ca: old.cert, maxVersion: 'TLSv1.2', session })
    t.ok(client.socket.isSessionReused())
    t.equal((await client.send(head).response()).status, 200)
    return fleet.answering().size === 2 || undefined
  })
  writeFileSync(join(fleet.folder, 'tls.crt'), next.cert)
  writeFileSync(join(fleet.folder, 'tls.key'), next.key)
  t.match(await askForReload(fleet.opsUrl), taken)
  for (let turn = 0; turn < 10; turn++) await connectTls(t, fleet.url, { ca: next.cert })
  t.equal((await first.send(head).response()).status, 200, 'nobody is cut off')
  fleet.child.kill('SIGTERM')
  const last = await first.send(head).response()
  t.equal(last.status, 200)
  if (last.headers.connection !== 'close') await once(first.socket, 'close')
  t.equal((await fleet.ended).status, 0)
})
