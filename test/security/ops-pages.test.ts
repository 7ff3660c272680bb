import { hostname } from 'node:os'
import t from 'tap'
import { refuseCrossOrigin } from '../../src/api/ops.ts'
import { startGateway } from '../setup/gateway.ts'
import { rawRequest } from '../setup/raw-client.ts'

const paths = ['GET /livez', 'GET /readyz', 'GET /status', 'GET /status?json', 'GET /metrics', 'POST /reload']

t.test('no page of another origin can call anything on the ops listener', async (t) => {
  const gateway = await startGateway(t, { config: { ops: { port: 0, hosts: ['Ops.example.com'] } } })
  const { host, port } = new URL(gateway.opsUrl)
  const call = async (line: string, ...fields: string[]) =>
    rawRequest(t, gateway.opsUrl, [`${line} HTTP/1.1`, ...fields, 'Content-Length: 0'])
  const foreign: readonly (readonly string[])[] = [
    [`Host: ${host}`, 'Origin: https://evil.example'],
    [`Host: ${host}`, 'Origin: null'],
    [`Host: ${host}`, 'Origin: http://127.0.0.1:1'],
    [`Host: ${host}`, 'Sec-Fetch-Site: cross-site'],
    [`Host: ${host}`, 'Sec-Fetch-Site: same-site'],
    [`Host: ${host}`, `Origin: http://${host}`, 'Sec-Fetch-Site: cross-site'],
    // DNS rebinding: the page's own name means this machine now, so all is of one origin.
    [`Host: evil.example:${port}`],
    [`Host: evil.example:${port}`, `Origin: http://evil.example:${port}`, 'Sec-Fetch-Site: same-origin'],
    [`Host: 127.0.0.1.evil.example:${port}`],
    [`Host: localhost.evil.example:${port}`],
    [`Host: evil-single-word:${port}`],
    ['Host: evil.example.'],
  ]
  for (const line of [...paths, 'OPTIONS /reload', 'GET /nowhere']) {
    for (const fields of foreign) {
      const answer = await call(line, ...fields)
      t.equal(answer.status, 403, `${line} with ${fields.join(', ')}`)
      t.match(answer.json(), { status: 'forbidden', reason: /^(?:Host|Origin|Sec-Fetch-Site): / })
      t.equal(answer.headers['access-control-allow-origin'], undefined)
    }
  }
  t.notMatch(gateway.logLines.join(''), 'reloaded', 'and nothing was done')

  const own: readonly (readonly string[])[] = [
    [`Host: ${host}`],
    [`Host: ${host}`, 'Sec-Fetch-Site: none'],
    [`Host: ${host}`, 'Sec-Fetch-Site: same-origin', `Origin: http://${host}`],
    [`Host: localhost:${port}`],
    ['Host: LOCALHOST'],
    ['Host: [::1]:9090'],
    ['Host: 10.0.0.7:9090'],
    [`Host: ${hostname()}:${port}`],
    ['Host: ops.EXAMPLE.com:9090'],
  ]
  for (const line of paths) {
    for (const fields of own)
      t.equal((await call(line, ...fields)).status, 200, `${line} with ${fields.join(', ')}`)
  }
  const old = await rawRequest(t, gateway.opsUrl, ['GET /readyz HTTP/1.0'])
  t.equal(old.status, 200, 'a health check of HTTP/1.0 names no host')
})

t.test('a listener beyond loopback can be scraped by an address or the name of a service', async (t) => {
  const open = { host: '0.0.0.0', hosts: [] }
  for (const host of [
    'gatehouse:9090',
    'gatehouse.default.svc:9090',
    'g.d.svc.cluster.local',
    'g.internal',
    '10.1.2.3',
  ])
    t.equal(refuseCrossOrigin({ host }, open), undefined, host)
  for (const host of ['gatehouse.example.com', 'svc.example', 'evil.local', '[::1', 'a b', '10.1.2.3.nip.io'])
    t.match(refuseCrossOrigin({ host }, open), /^Host: .*ops\.hosts/, host)
  t.equal(refuseCrossOrigin({ host: 'gw.corp.example' }, { ...open, hosts: ['gw.corp.example'] }), undefined)
  t.equal(refuseCrossOrigin({ host: 'gw.corp.example' }, { ...open, host: 'gw.corp.example' }), undefined)
})
