import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { tamper } from '../setup/tamper.ts'
import { accessTokenPath, ask, askJson } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

/** All of an answer but what differs from request to request. */
function comparable({ head, body }: RawResponse): string {
  return `${head}\r\n\r\n${body}`.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|Date: [^\r]+/g, '')
}

/** What the work itself takes: most of the others have waited for the processor too, where it is busy. */
function fastestTenth(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? 0
}

for (const driver of storeDrivers) {
  t.test(`failed key pairs on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const ada = await gateway.createAccount()
    const bob = await gateway.createAccount()
    const gone = await gateway.createAccount()
    const reset = await gateway.createAccount()
    const off = await gateway.createAccount()
    const newKey = await gateway.operate(async ({ accounts, defaultKeys }) => {
      await accounts.remove(gone.account.id)
      await accounts.update(off.account.id, { isDisabled: true })
      return defaultKeys.resetSecretKey(reset.account.id, 0)
    })
    const wrong = {
      'unknown account': [gone.secretKey, gone.apiKey],
      'keys of two accounts': [ada.secretKey, bob.apiKey],
      'keys of two accounts, the other way': [bob.secretKey, ada.apiKey],
      'right secret key, mistyped API key': [ada.secretKey, tamper(ada.apiKey)],
      'mistyped secret key, right API key': [tamper(ada.secretKey), ada.apiKey],
      'a secret key that was reset': [reset.secretKey, reset.apiKey],
      'the new key with the API key of another': [newKey, ada.apiKey],
      'keys swapped': [ada.apiKey, ada.secretKey],
      'twice the secret key': [ada.secretKey, ada.secretKey],
      'twice the API key': [ada.apiKey, ada.apiKey],
      'no keys at all': ['x', 'y'],
      'very long': ['g'.repeat(30_000), 'g'.repeat(30_000)],
      'not ASCII': ['gsk_ключ', 'gak_\u0000'],
      'a disabled account with a wrong API key': [off.secretKey, ada.apiKey],
      'a disabled account with a mistyped secret key': [tamper(off.secretKey), off.apiKey],
    } as const

    t.test('every kind of wrong pair gets one identical 401', async (t) => {
      const answers = new Map<string, string>()
      for (const [name, [SecretKey, APIKey]] of Object.entries(wrong)) {
        const response = await askJson(t, gateway.url, accessTokenPath, { SecretKey, APIKey })
        assertProblem(t, response, { status: 401, code: 'credentials-invalid' })
        t.equal(response.headers['www-authenticate'], 'SecretKey realm="gatehouse"')
        t.equal(response.headers['set-cookie'], undefined)
        answers.set(name, comparable(response))
      }
      const [first] = answers.values()
      for (const [name, answer] of answers) t.equal(answer, first, name)
    })

    t.test(
      'the right key pair of a disabled account is reported as disabled, and gets no tokens',
      async (t) => {
        const pair = { SecretKey: off.secretKey, APIKey: off.apiKey }
        const response = await askJson(t, gateway.url, accessTokenPath, pair)
        assertProblem(t, response, { status: 403, code: 'account-disabled' })
        t.equal(response.headers['set-cookie'], undefined)
      },
    )

    t.test('a wrong key pair takes the same time whatever is wrong with it', async (t) => {
      // Well-formed keys only: a bad checksum is refused without a look-up, and reveals nothing else.
      const kinds = {
        unknown: [gone.secretKey, gone.apiKey],
        secretKeyOnly: [ada.secretKey, bob.apiKey],
        apiKeyOnly: [reset.secretKey, reset.apiKey],
      } as const
      const entries = Object.entries(kinds)
      const times: Record<string, number[]> = {}
      for (let round = 0; round < 120; round++) {
        // In turns, each of them first as often as the others: whatever else the machine does meets all kinds alike.
        const first = round % entries.length
        for (const [name, [SecretKey, APIKey]] of [...entries.slice(first), ...entries.slice(0, first)]) {
          const body = JSON.stringify({ SecretKey, APIKey })
          const start = performance.now()
          await (await gateway.post(accessTokenPath, JSON.parse(body))).text()
          times[name] = [...(times[name] ?? []), performance.now() - start]
        }
      }
      const tenths = Object.values(times).map(fastestTenth)
      const spread = Math.max(...tenths) - Math.min(...tenths)
      t.ok(spread < 1 + Math.min(...tenths) / 2, `fastest tenths in ms: ${tenths.map((ms) => ms.toFixed(3))}`)
    })

    t.test('keys in the query, the headers or a form are not taken', async (t) => {
      const query = `?SecretKey=${ada.secretKey}&APIKey=${ada.apiKey}`
      const inQuery = await askJson(t, gateway.url, accessTokenPath + query, {})
      assertProblem(t, inQuery, { status: 400, code: 'request-invalid' })
      const headers = [
        `SecretKey: ${ada.secretKey}`,
        `APIKey: ${ada.apiKey}`,
        'Content-Type: application/json',
      ]
      const inHeaders = await ask(t, gateway.url, `POST ${accessTokenPath}`, headers, '{}')
      assertProblem(t, inHeaders, { status: 400, code: 'request-invalid' })
      const bodyless = await ask(t, gateway.url, `POST ${accessTokenPath}`, headers)
      assertProblem(t, bodyless, { status: 400, code: 'request-invalid' })
    })
  })
}
