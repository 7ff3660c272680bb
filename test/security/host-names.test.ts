import t, { type Test } from 'tap'
import { askDecision, startDecideGateway } from '../gateway/decide/support.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'

/** A name of this length, of labels that DNS allows. */
function nameOf(length: number): string {
  return 'abcdefghi.'
    .repeat(length)
    .slice(0, length - 1)
    .concat('z')
}

const routes = [{ name: 'site', path: '/', upstream: 'backend', auth: 'none' }]
const accepted = [
  'a.test',
  'a.test.',
  nameOf(253),
  `${nameOf(253)}.`,
  `${nameOf(253)}.:65535`,
  `${nameOf(253)}:8080`,
  '[::1]',
  '[::1]:8080',
  'a%2eb.test',
]
const refused = [
  ...[
    nameOf(254),
    `${nameOf(254)}:8080`,
    nameOf(15_000),
    '.',
    '..',
    '.a.test',
    'a..test',
    'a.test..',
    'a..:8080',
  ],
  ...[`a${'.'.repeat(15_000)}%41`, `${'.%41'.repeat(3_700)}`, `${nameOf(254)}.`],
]

/** Sends a host in each place of a request, and returns the statuses. */
async function startHosts(t: Test) {
  const config = { routes, trustedProxies: ['127.0.0.1'] }
  const { backend, url } = await startBoth(t, { config })
  const decide = await startDecideGateway(t, { config: { routes } })
  const session = await connectHttp2(t, url)
  const places = {
    Host: (host: string) => rawRequest(t, url, ['GET / HTTP/1.1', `Host: ${host}`]),
    ':authority': (host: string) => askHttp2(session, '/', { headers: { ':authority': host } }),
    'the absolute form': (host: string) =>
      rawRequest(t, url, [`GET http://${host}/ HTTP/1.1`, 'Host: a.test']),
    'the absolute form of OPTIONS': (host: string) =>
      rawRequest(t, url, [`OPTIONS http://${host} HTTP/1.1`, 'Host: a.test']),
    'X-Forwarded-Host of a trusted proxy': (host: string) =>
      rawRequest(t, url, ['GET / HTTP/1.1', 'Host: a.test', `X-Forwarded-Host: ${host}`]),
    'X-Forwarded-Host to the decide listener': (host: string) => askDecision(t, decide, { host }),
  }
  return { backend, places: Object.entries(places) }
}

t.test(
  'a host name longer than 253 characters, or with an empty label, is 400 wherever it comes',
  async (t) => {
    const { backend, places } = await startHosts(t)
    for (const [place, send] of places)
      for (const host of refused) t.equal((await send(host)).status, 400, `${place}: ${host.slice(0, 20)}`)
    t.equal(backend.seen.length, 0)
  },
)

t.test('a host name of 253 characters, or with the dot of the root, is one', async (t) => {
  const { places } = await startHosts(t)
  for (const [place, send] of places)
    for (const host of accepted) t.ok((await send(host)).status < 300, `${place}: ${host.slice(0, 20)}`)
})
