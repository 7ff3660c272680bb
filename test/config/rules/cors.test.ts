import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

const origins = (...list: readonly unknown[]) => ({ ...minimalConfig, cors: { origins: list } })

t.test('no CORS origins are allowed by default', async (t) => {
  t.strictSame(load(t, minimalConfig).cors, { origins: [], allowsAny: false })
})

t.test('a CORS origin is normalised to the form browsers send', async (t) => {
  const written: readonly (readonly [text: string, origin: string])[] = [
    ['https://app.example.com', 'https://app.example.com'],
    ['HTTPS://App.Example.COM', 'https://app.example.com'],
    ['https://app.example.com/', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['https://app.example.com:8443', 'https://app.example.com:8443'],
    ['http://localhost:80', 'http://localhost'],
    ['http://[::1]:5173', 'http://[::1]:5173'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['chrome-extension://ABCDEF', 'chrome-extension://abcdef'],
  ]
  for (const [text, origin] of written) t.strictSame(load(t, origins(text)).cors.origins, [origin], text)
})

t.test('anything but an exact CORS origin is refused at its place', async (t) => {
  const form = 'must be an origin such as https://app.example.com'
  const wrong: readonly (readonly [text: string, complaint: string])[] = [
    ['*', 'stands for every origin, without cookies: it must be the only entry'],
    ['https://*.example.com', `${form}: the only wildcard is * alone`],
    ['*.example.com', `${form}: the only wildcard is * alone`],
    ['null', `${form}: any page can send the origin null`],
    ['app.example.com', `${form}: a scheme`],
    ['https://app.example.com/path', `${form}: a scheme`],
    ['https://app.example.com?', `${form}: a scheme`],
    ['https://app.example.com#', `${form}: a scheme`],
    ['https://me@app.example.com', `${form}: a scheme`],
    ['https://app.example.com, https://b.example', `${form}: a scheme`],
    ['https://app.example.com:99999', `${form}: a scheme`],
    ['https://', `${form}: a scheme`],
    ['file:///', `${form}: a scheme`],
    ['mailto:me', `${form}: a scheme`],
  ]
  for (const [text, complaint] of wrong) {
    const [problem, ...others] = problemMessages(t, origins('https://good.example', text))
    t.ok(problem?.startsWith(`cors.origins[1]: ${complaint}`), `${text}: ${problem}`)
    t.strictSame(others, [])
  }
})

t.test('* alone allows every origin, and is none that is trusted', async (t) => {
  t.strictSame(load(t, origins('*')).cors, { origins: [], allowsAny: true })
})

t.test('a duplicate CORS origin, in any spelling, is refused', async (t) => {
  t.strictSame(problemMessages(t, origins('https://a.example', 'https://A.example:443/')), [
    'cors.origins[1]: https://a.example is already in the list',
  ])
})

t.test('up to a thousand CORS origins are taken', async (t) => {
  const many = (count: number) =>
    origins(...Array.from({ length: count }, (_, at) => `https://a${at}.example`))
  t.equal(load(t, many(1_000)).cors.origins.length, 1_000)
  for (const count of [1_001, 5_000]) t.match(problemMessages(t, many(count)), [/^cors\.origins: .*1,?000/])
})

t.test('a CORS setting of the wrong type is reported', async (t) => {
  t.equal(problemMessages(t, { ...minimalConfig, cors: { origins: 'https://a.example' } }).length, 1)
  t.equal(problemMessages(t, origins(1)).length, 1)
})
