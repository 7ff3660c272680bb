import { createHash } from 'node:crypto'
import t from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'

t.test('a forged sticky cookie, or one of another upstream, names no target', async (t) => {
  const backends = await Promise.all(
    ['A', 'B', 'C', 'D'].map((name) => startBackend(t, (_request, response) => response.end(name))),
  )
  const urls = backends.map(({ url }) => url)
  const sticky = { targets: urls.map((url) => ({ url })), balancing: 'sticky' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: { one: sticky, two: sticky },
      routes: ['one', 'two'].map((name) => ({ name, path: `/${name}`, upstream: name, auth: 'none' })),
    },
  })
  const cookieOf = async (path: string) => {
    const { headers, body } = await ask(t, gateway.url, `GET ${path}`)
    const [cookie = ''] = headers['set-cookie']?.split(';') ?? []
    const [name = '', id = ''] = cookie.split('=')
    return { name, id, body }
  }
  const [one, two] = [await cookieOf('/one'), await cookieOf('/two')]
  t.not(one.name, two.name)
  const text = one.name + one.id + Buffer.from(one.id, 'base64url').toString('latin1')
  for (const url of urls) {
    t.notMatch(text, new URL(url).host, 'it says nothing of the target')
    for (const input of [url, `one${url}`, `one\0${url}`])
      t.notOk(
        createHash('sha256').update(input).digest('base64url').startsWith(one.id),
        'nor is it a bare digest',
      )
  }

  /** To which targets requests with this cookie go. */
  const targetsOf = async (cookie: string) => {
    const names = new Set<string>()
    for (let count = 0; count < 8; count++) {
      const { body, status, headers } = await ask(t, gateway.url, 'GET /one', [`Cookie: ${cookie}`])
      t.equal(status, 200)
      if (body !== one.body) t.type(headers['set-cookie'], 'string')
      names.add(body)
    }
    return names.size
  }
  t.equal(await targetsOf(`${one.name}=${one.id}`), 1)
  const flipped = (one.id.startsWith('A') ? 'B' : 'A') + one.id.slice(1)
  for (const value of [
    two.id,
    flipped,
    one.id.slice(1),
    `${one.id}=`,
    '',
    urls[0],
    one.id.toLowerCase(),
    '"'.repeat(22),
  ])
    t.equal(await targetsOf(`${one.name}=${value}`), 4, `forged: ${value}`)
  t.equal(await targetsOf(`${two.name}=${one.id}`), 4, 'under the name of another upstream')
  const flood = Array.from({ length: 300 }, (_, index) => `${one.name}=${String(index).padStart(22, 'x')}`)
  t.equal(await targetsOf([...flood, `${one.name}=${one.id}`].join(';')), 4, 'behind a flood of forged ones')
  const backendsSaw = backends.flatMap(({ seen }) => seen.map(({ headers }) => headers.cookie ?? ''))
  t.notOk(
    backendsSaw.some((cookie) => cookie.includes('gatehouse-target')),
    'no backend sees any of them',
  )
})
