import t, { type Test } from 'tap'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { load, minimalConfig, type Options, problemMessages, read } from '../config-fixtures.ts'

const least = { contact: ['mailto:security@example.com'], expires: '2027-06-30' }
const withText = (change: Options = {}) => ({ ...minimalConfig, securityTxt: { ...least, ...change } })
const problems = (t: Test, change: Options) => problemMessages(t, withText(change))

t.test('security.txt has a line for each contact and field', async (t) => {
  t.equal(load(t, minimalConfig).securityTxt, undefined)
  t.equal(
    load(t, withText()).securityTxt,
    'Contact: mailto:security@example.com\nExpires: 2027-06-30T23:59:59Z\n',
  )
  const full = {
    contact: ['https://example.com/report', 'tel:+1-201-555-0123'],
    encryption: 'openpgp4fpr:5f2de5521c63a801ab59ccb603d49de44b29100f',
    policy: 'https://example.com/disclosure',
    acknowledgments: 'https://example.com/thanks',
    preferredLanguages: ['en', 'de-AT'],
  }
  t.equal(
    load(t, withText(full)).securityTxt,
    [
      'Contact: https://example.com/report',
      'Contact: tel:+1-201-555-0123',
      'Expires: 2027-06-30T23:59:59Z',
      `Encryption: ${full.encryption}`,
      'Policy: https://example.com/disclosure',
      'Acknowledgments: https://example.com/thanks',
      'Preferred-Languages: en, de-AT',
      '',
    ].join('\n'),
  )
})

t.test('a contact and a last day are required', async (t) => {
  const { securityTxt: _, ...rest } = withText()
  t.match(problemMessages(t, { ...rest, securityTxt: {} }), [/contact/, /expires/])
  t.match(problems(t, { contact: [] }), [/^securityTxt\.contact: /])
  t.strictSame(problems(t, { contact: Array.from({ length: 20 }, (_, index) => `tel:${index}`) }), [])
  t.match(problems(t, { contact: Array.from({ length: 21 }, (_, index) => `tel:${index}`) }), [/20/])
})

t.test('what is no URI, or a page without https, is a problem', async (t) => {
  t.strictSame(problems(t, { contact: ['security@example.com'] }), [
    'securityTxt.contact[0]: must be a URI: mailto:security@example.com',
  ])
  for (const text of ['http://example.com/report', 'example.com/report', '/report', 'https://'])
    t.match(
      problems(t, { policy: text }),
      [/^securityTxt\.policy: must be a URI, and begin with https/],
      text,
    )
  for (const text of ['mailto:a b', 'mailto:a\nExpires: 2099-01-01', 'mailto:ä'])
    t.match(problems(t, { contact: [text] }), [/^securityTxt\.contact\[0\]: /], text)
})

t.test('the last day is one of the calendar', async (t) => {
  for (const expires of ['2028-02-29', '2027-12-31']) t.strictSame(problems(t, { expires }), [], expires)
  for (const expires of ['2027-02-29', '2027-13-01', '2027-00-10', '2027-06-31'])
    t.strictSame(problems(t, { expires }), ['securityTxt.expires: is not a valid date'], expires)
  for (const expires of ['tomorrow', '2027-06-30T00:00:00Z', '30.06.2027'])
    t.match(problems(t, { expires }), [/^securityTxt\.expires: /], expires)
})

t.test('a day that has passed is warned of, and a route for the path of security.txt', async (t) => {
  const [route] = minimalConfig.routes
  const warnings = (config: Options, now: string) => {
    const reading = read(t, config)
    t.strictSame(reading.problems, [])
    const ownPaths = createOwnPaths(reading.tree.portal, [], reading.config)
    return findWarnings(reading, ownPaths, { env: {}, now: Date.parse(now) }).map(({ path }) =>
      path.join('.'),
    )
  }
  t.strictSame(warnings(withText(), '2027-06-30T23:59:58Z'), [])
  t.strictSame(warnings(withText(), '2027-06-30T23:59:59Z'), ['securityTxt.expires'])
  const routes = [{ ...route, path: '/.well-known/security.txt' }]
  t.strictSame(warnings({ ...minimalConfig, routes }, '2027-01-01'), [])
  t.strictSame(warnings({ ...withText(), routes }, '2027-01-01'), ['routes.0.path'])
})
