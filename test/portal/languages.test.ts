import t from 'tap'
import { quotaUnitOf } from '#identity/limits/plans.ts'
import { languageOf } from '#portal/portal-request.ts'
import { languages, translationOf } from '#portal/texts/texts.ts'
import type { PageFrame } from '#portal/views/frame.ts'
import { states } from './page-states.ts'

/** The states whose pages are not translated yet, by the beginning of their names. */
const untranslated = Object.keys(states).filter(
  (name) =>
    !/^(?:integration|api|sign-in|profile|forgotten|link|setup|verify|second-factor|passkey|sessions|take-over|confirm|account|subjects|events|usage|audit|error)/.test(
      name,
    ),
)

/** What is the same in both languages: data of the samples, names, and words that German has taken over. */
const same = [
  /@|https?:|^…?gate_|^[\d\s.,:%–·-]*$/,
  /^[A-Za-z0-9]{16}$|Llanfairpwll|^Example ID$|^[0-9a-f:]+$|^(?:Laptop|node|python-requests 2.32.3)$|Papadopoulou/,
  /^(?:GET|POST|PUT|PATCH|DELETE)\b|^X-User-|^(?:orders|open|reports)$|^(?:curl|JavaScript|Python|Go|Route|OpenAPI)$/,
  /^(?:Alan Turing|Edsger Dijkstra|Service|deploy|Former|free|pro|old|partner|corp)$|Ünïcode|^auth0\||^email,|\(UTC\)$/,
  // Errors of the samples, like those below.
  /^At least one Admin must remain\.$|^email: must be an e-mail/,
  /^(?:CSV|JSON Lines|Import|Gatehouse|Ada Lovelace|Grace Hopper|Portal|ID|Name|Status|Code|Client|Passkeys|English|Deutsch|Admin|User)$/,
]

/** What a page says: its texts, and the attributes that are shown or read out. Code is not translated. */
function saidBy(page: string): readonly string[] {
  const shown = page
    .replaceAll(/<(code|pre|script|style|time)\b[\s\S]*?<\/\1>/g, '')
    // What was typed, and what says that it is in English.
    .replaceAll(/(<textarea[^>]*>)[\s\S]*?<\/textarea>/g, '$1')
    .replaceAll(/<span lang="en">[\s\S]*?<\/span>/g, '')
    // The errors of the samples; form-errors.test.ts has those of forms.
    .replaceAll(/<p class="wrong"[\s\S]*?<\/p>|<div class="notice[\s\S]*?<\/div><\/div>/g, '')
  const attributes = [...shown.matchAll(/ (?:aria-label|title|placeholder|alt|data-label)="([^"]*)"/g)]
  const texts = [...shown.matchAll(/>([^<]+)(?=<)/g)]
  return [...attributes, ...texts]
    .map(([, text = '']) => text.trim())
    .filter((text) => /[a-z]{2}/i.test(text))
}

t.test('every page is in the language of its viewer as a whole', async (t) => {
  for (const [name, show] of Object.entries(states)) {
    if (untranslated.includes(name)) continue
    const [en, de] = (['en', 'de'] as const).map((language) => String(show(translationOf(language))))
    t.match(de, '<html lang="de"', name)
    const english = new Set(saidBy(String(en)))
    const untouched = saidBy(String(de)).filter(
      (text) => english.has(text) && !same.some((pattern) => pattern.test(text)),
    )
    t.strictSame(untouched, [], `${name}: the same in both languages`)
  }
})

t.test('the language is what the viewer has chosen, else what the browser prefers', async (t) => {
  const asked = [
    [undefined, 'en'],
    ['*', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-GB,de;q=0.9', 'en'],
    ['fr,de;q=0.5,en;q=0.4', 'de'],
    ['fr', 'en'],
    ['de;q=0', 'en'],
    [';;,,=', 'en'],
    ['de,'.repeat(5_000), 'de'],
  ] as const
  for (const [header, language] of asked) {
    const headers = header === undefined ? {} : { 'accept-language': header }
    t.equal(languageOf({ headers }, undefined), language, String(header).slice(0, 40))
  }
  t.strictSame(
    languages.map(({ tag }) => tag),
    ['en', 'de'],
  )
})

t.test('quotas are in units where a route spends them', async (t) => {
  const said = (name: string, over: Partial<PageFrame>) => String(states[name]?.(over))
  t.match(said('usage', {}), '9,730 of 10,000 requests used this month (UTC)')
  t.match(said('usage-units', {}), '9,730 of 10,000 units used this month (UTC)')
  t.match(said('usage-units', translationOf('de')), '9.730 von 10.000 Einheiten verbraucht')
  const inUnits = { quotaUnit: 'units' } as const
  t.match(said('integration-further-keys', {}), '100,000 requests a day')
  t.match(said('integration-further-keys', inUnits), /100,000 units a day[\s\S]*Units per day or month/)
  t.match(
    said('integration-further-keys', { ...inUnits, ...translationOf('de') }),
    /100\.000 Einheiten pro Tag[\s\S]*Einheiten pro Tag oder Monat/,
  )
  const spends = [{ quotaCounts: 'requests' }, { quotaCounts: 'units' }] as const
  t.equal(quotaUnitOf(spends), 'units')
  t.equal(quotaUnitOf(spends.slice(0, 1)), 'requests')
})
