import t from 'tap'
import { startServer } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { startChromium } from '../setup/chromium.ts'
import { accessTokenPath, refreshTokenPath } from './support/ask.ts'

interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

t.test('a browser lets pages of configured origins call, and no others', async (t) => {
  const servePage = () =>
    startServer(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' })
      response.end('<!doctype html><title>page</title>')
    })
  const [named, unnamed] = [await servePage(), await servePage()]
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      response.writeHead(200, { 'Access-Control-Allow-Origin': 'https://elsewhere.example', 'X-Total': '7' })
      response.end('from the backend')
    },
    config: { cors: { origins: [named] } },
  })
  const account = await gateway.createAccount()
  const browser = await startChromium(t)

  /** What a script of a page reads of an answer; undefined where the browser keeps it. */
  async function callFrom(page: string, path: string, call: Call = {}) {
    const tab = await browser.newPage()
    await tab.goto(page)
    const read = await tab.evaluate(
      async ([url, init]) => {
        try {
          const response = await fetch(url, { ...init, credentials: 'include' })
          const names = ['X-Request-Id', 'WWW-Authenticate', 'X-Total']
          const headers = names.map((name) => response.headers.get(name) !== null)
          return { status: response.status, body: await response.text(), headers }
        } catch {
          return undefined
        }
      },
      [gateway.url + path, call] as const,
    )
    await tab.close()
    return read
  }

  const withKey = { method: 'PUT', headers: { SecretKey: account.secretKey, 'X-Custom': 'a' } }
  const forwarded = { status: 200, body: 'from the backend', headers: [true, false, false] }
  t.strictSame(await callFrom(named, '/any', withKey), forwarded)
  t.equal(await callFrom(unnamed, '/any', withKey), undefined)
  t.equal(backend.seen.length, 1, 'the preflight of the other page was refused')

  t.match(await callFrom(named, '/any'), { status: 401, headers: [true, true, false] }, 'a refusal is read')
  t.equal(await callFrom(unnamed, '/any'), undefined)
  t.equal(await callFrom(named, '/portal/sign-in'), undefined, 'the portal is kept from both')

  const body = JSON.stringify({ SecretKey: account.secretKey, APIKey: account.apiKey })
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } }
  const issued = await callFrom(named, accessTokenPath, { ...json, body })
  t.equal(issued?.status, 200)
  const { RefreshToken: token } = JSON.parse(issued?.body ?? '{}')
  const refreshed = await callFrom(named, refreshTokenPath, { ...json, body: JSON.stringify({ token }) })
  t.equal(refreshed?.status, 200)
})
