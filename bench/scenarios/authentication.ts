import { observed } from './contestants.ts'
import { contestantsOf, loadFigures } from './load-figures.ts'
import { bearers, fresh, keysOf } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

export const authentication: Scenario = {
  summary: 'Fresh heads: what warm authentication costs',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: ['gatehouse: none, as long', 'gatehouse: none, as long as with a key'],
  note:
    'Heads of a browser as in `fresh-heads`, with the access log. One process, 200 tokens or keys in turn, all known; ' +
    '`none`: a public route, and a head as long, with the same text in a field that is no credential and is forwarded. ' +
    'Turns of one second, so that all four meet the same conditions of the machine.',
  async open(bench) {
    const found: Contestant[] = []
    for (const kind of bench.gateways) {
      const subject = await bench.gateway(kind, { config: observed })
      const { accessTokens, secretKeys } = subject.credentials
      const ways = contestantsOf(bench, kind, {
        'none, as long': [subject, fresh('GET /public', bearers(accessTokens).map(asOtherField))],
        bearer: [subject, fresh('GET /any', bearers(accessTokens))],
        'none, as long as with a key': [subject, fresh('GET /public', keysOf(secretKeys).map(asOtherField))],
        key: [subject, fresh('GET /any', keysOf(secretKeys))],
      })
      found.push(...ways)
    }
    return found
  },
}

/** The same value, in a field of a name as long. */
function asOtherField(credential: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(credential).map(([name, value]) => [`X-${'Z'.repeat(name.length - 2)}`, value]),
  )
}
