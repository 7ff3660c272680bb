import t from 'tap'
import { english } from '#platform/languages.ts'
import { relativeTime, time } from '#platform/pages/format.ts'
import { attributeIf, html } from '#platform/pages/html.ts'
import { translationOf } from '#portal/texts/texts.ts'
import { createSnippets } from '#portal/views/integration/snippets.ts'
import { clientName } from '#portal/views/sessions-page.ts'
import { usualCarriers } from '../setup/carriers.ts'

t.test('values in a template are escaped, in text and in attributes', async (t) => {
  const evil = `"><script>alert('1')</script>&amp;`
  const escaped = '&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;'
  t.equal(String(html`<p title="${evil}">${evil}</p>`), `<p title="${escaped}">${escaped}</p>`)
  t.equal(String(html`${[evil, html`<b>${evil}</b>`]}`), `${escaped}<b>${escaped}</b>`)
  t.equal(
    String(html`<i${attributeIf(false, 'hidden')}${attributeIf(true, 'open')}>${undefined}${false}${0}</i>`),
    '<i open>0</i>',
  )
})

t.test('a time is shown relative to now, from a month on as a date', async (t) => {
  const now = Date.UTC(2026, 10, 21, 14, 3, 22)
  const said = [
    [0, 'just now'],
    [-59_999, 'just now'],
    [-60_000, '1 minute ago'],
    [-3_599_999, '59 minutes ago'],
    [-3_600_000, '1 hour ago'],
    [-86_400_000, '1 day ago'],
    [-31 * 86_400_000 + 1, '30 days ago'],
    [-31 * 86_400_000, '21 Oct 2026'],
    [30_000, 'in less than a minute'],
    [60_000, 'in 1 minute'],
    [15 * 60_000 - 1, 'in 15 minutes'],
    [14 * 60_000 + 29_999, 'in 14 minutes'],
    [3_600_000 - 1, 'in 1 hour'],
    [7_200_000, 'in 2 hours'],
    [7_200_000 - 1, 'in 2 hours'],
    [86_400_000 - 1, 'in 1 day'],
    [7 * 86_400_000 - 1_000, 'in 7 days'],
  ] as const
  for (const [offset, text] of said) t.equal(relativeTime(now + offset, { now, locale: english }), text)
  t.match(String(time(now, { now, locale: english })), 'title="2026-11-21 14:03:22 UTC"')
})

t.test('a known browser is named, any other User-Agent shown as is', async (t) => {
  const names = {
    '': 'Unknown client',
    'curl/8.7.1': 'curl 8.7.1',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox 140 on Linux',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0':
      'Edge 142 on Windows',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1':
      'Safari 19 on iOS',
  }
  for (const [userAgent, name] of Object.entries(names))
    t.equal(clientName(userAgent, translationOf('en').texts.sessions), name)
})

t.test('a path is quoted for the shell where needed', async (t) => {
  const [curl] = createSnippets({
    baseUrl: 'https://api.example.com',
    path: "/it's;here",
    carriers: usualCarriers,
  })
  t.match(curl?.withSecretKey, `curl 'https://api.example.com/it'\\''s;here' -H`)
})
