import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { run } from './run.ts'

interface Explained {
  readonly decision: string
  readonly code?: string
  readonly steps: readonly {
    readonly step: string
    readonly detail: string
    readonly facts: Readonly<Record<string, unknown>>
  }[]
}

t.test('explain shows where the key came, and what was recognised instead of one', async (t) => {
  const route = { upstream: 'backend', auth: 'secretKey' }
  const gateway = await startBoth(t, {
    config: {
      keys: { sealingKey: { file: 'sealing.key' }, accept: ['X-Gate', 'bearer', 'basic'] },
      routes: [
        { ...route, name: 'key', path: '/key' },
        { ...route, name: 'forwarding', path: '/forwarding', forwardCredentials: true },
        { ...route, name: 'left', path: '/left', auth: 'any', authorization: 'backend' },
        { ...route, name: 'open', path: '/open', auth: 'none', authorization: 'backend' },
      ],
    },
  })
  const { secretKey, apiKey } = await gateway.createAccount()
  const basic = `Basic ${Buffer.from(`git:${secretKey}`).toString('base64')}`

  const explain = (path: string, ...headers: readonly string[]) => explainLine(`GET ${path}`, headers)

  async function explainLine(line: string, headers: readonly string[]) {
    const [method = '', path = ''] = line.split(' ')
    const flags = headers.flatMap((header) => ['-H', header])
    const command = ['explain', method, `http://gateway.test${path}`, ...flags]
    const { stdout } = await run(t, [...command, '--config', gateway.configFile, '--json'])
    for (const secret of [secretKey, apiKey, basic, 'signature']) t.notOk(stdout.includes(secret))
    const explained = JSON.parse(stdout) as Explained
    return { ...explained, at: (step: string) => explained.steps.find((each) => each.step === step) }
  }

  for (const [header, carrier] of [
    [`X-Gate: ${secretKey}`, 'X-Gate'],
    [`x-gate: ${secretKey}`, 'X-Gate'],
    [`Authorization: Bearer ${secretKey}`, 'bearer'],
    [`Authorization: ${basic}`, 'basic'],
  ] as const) {
    const explained = await explain('/key', header)
    t.equal(explained.decision, 'forward')
    t.match(explained.at('scheme'), {
      detail: `secretKey in ${carrier} (accepted here: secretKey in X-Gate, bearer, basic)`,
      facts: { sent: 'secretKey', carrier, keysAccepted: ['X-Gate', 'bearer', 'basic'] },
    })
    const headers = JSON.stringify(explained.at('upstream')?.facts.headers)
    t.notMatch(headers, /x-gate|authorization/i)
  }

  const fromPage = [`Authorization: ${basic}`, 'Sec-Fetch-Site: cross-site']
  t.match(await explainLine('POST /key', fromPage), { decision: 'refuse', code: 'cross-site-request' })
  const ofAccount = await explainLine('DELETE /api/v1/admin/accounts/x', fromPage)
  t.match(ofAccount, { decision: 'refuse', code: 'cross-site-request' })

  const signed = await explain('/forwarding', `X-Gate: ${secretKey}`, 'Authorization: AWS4 signature')
  t.match(signed.at('scheme')?.detail, /Authorization is of another scheme, and so the backend's$/)
  const shown = JSON.stringify(signed.at('upstream')?.facts.headers)
  for (const name of ['X-Gate', 'Authorization'])
    t.match(shown, `{"name":"${name}","value":"[secret]"}`, 'possible secrets are hidden')

  const left = await explain('/left', `X-Gate: ${secretKey}`, 'Authorization: Bearer signature')
  t.equal(left.decision, 'forward')
  t.match(left.at('scheme'), {
    detail: "secretKey in X-Gate (accepted here: secretKey in X-Gate); Authorization is the backend's",
    facts: { accepted: ['secretKey'], keysAccepted: ['X-Gate'], leavesAuthorization: true },
  })
  t.match(JSON.stringify(left.at('upstream')?.facts.headers), '{"name":"Authorization","value":"[secret]"}')
  const open = await explain('/open', 'Authorization: Bearer signature')
  t.equal(open.at('scheme')?.detail, "ignored: the route is public; Authorization is the backend's")
  for (const path of ['/left', '/open']) {
    const misplaced = await explain(path, `Authorization: ${basic}`)
    t.match(misplaced, { decision: 'refuse', code: 'credentials-misplaced' })
    t.match(misplaced.at('scheme'), { detail: /^Authorization is passed on to the service behind this path/ })
  }

  const swapped = await explain('/key', `X-Gate: ${apiKey}`)
  t.equal(swapped.code, 'secret-key-invalid')
  t.match(swapped.at('principal'), { detail: /^This is an API key.*explain counted nothing\.$/ })
  t.notOk('check' in (swapped.at('principal')?.facts ?? {}))
  const token = await explain('/key', 'Authorization: Bearer eyJ.e30.x')
  t.match(token.at('scheme')?.detail, /^This is a JWT\. This path takes secret keys only/)
  const ignored = await explain('/key', `SecretKey: ${secretKey}`)
  t.match(
    ignored.at('scheme')?.detail,
    /^Send a secret key in the header X-Gate, as Authorization: Bearer or as/,
  )
})
