import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { assertRefused as assertOneRefused } from '../gateway/support/problem.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, notInApp } from '../setup/gateway.ts'

/** Paths below the public /files, or below nothing, that some backend reads as one below /files/private. */
const confusing = [
  '/files%2Fprivate',
  '/files%2fprivate/x',
  '/files/%2Fprivate',
  '/files%5Cprivate',
  '/files/%5cprivate/x',
  '/files%2F%5C%2fprivate',
  '/files/private%2Fx',
  '/files/private%5Cx',
  '/files/private;a/x',
  '/files/private;a=b',
  '/files;a/private',
  '/files;a%2Fprivate',
  '/files%3Ba%5Cprivate',
  '/files/;a%2Fprivate',
  '/files%252Fprivate',
  '/files/%252fprivate',
  '/files%255Cprivate/x',
  '/files%2F%252Fprivate',
  '/files/private%253Ba',
  '/files/private%252Fx',
  '/files%253Ba%252Fprivate',
  '/files/pri%2576ate',
]

/** The same, for a backend that ignores case. */
const confusingInCase = [
  '/files/Private',
  '/FILES/private',
  '/files%2FPRIVATE',
  '/Files%5cPrivate/x',
  '/files/PRIVATE;a/x',
  '/Files;a%2FPrivate;b/x',
  '/files%3Ba%5CPrivate',
  '/files%252FPrivate',
  '/FILES%253ba%252fPRIVATE%3Bb',
  '/files/%2550rivate',
]

/** Paths with encoded slashes that belong to the public route however they are read. */
const harmless = [
  '/files/a%2Fb',
  '/files/a%5Cb',
  '/files/a%252Fb',
  '/files/%40scope%2fname',
  '/files/1%2Fprivate',
  '/files/privately%2Fx',
  '/files/100%25',
  '/files/https%3A%2F%2Fexample.test%2Fprivate',
]

const onePerPath = { skip: notInApp('an app has one proxy for each prefix') }
const noHosts = { skip: notInApp('a proxy of an app is for all hosts') }

type Options = Readonly<Record<string, unknown>>

const files = { name: 'files', path: '/files', upstream: 'backend', auth: 'none' }
const hidden = { name: 'private', path: '/files/private', upstream: 'backend', auth: 'any', roles: ['Admin'] }

async function start(t: Test, routes: readonly Options[]) {
  const { backend, url } = await startBoth(t, { config: { routes } })
  const assertRefused = async (paths: readonly string[], method = 'GET') => {
    for (const path of paths)
      assertOneRefused(t, await ask(t, url, `${method} ${path}`), { status: 400, code: 'path-ambiguous' })
    t.strictSame(backend.seen, [])
  }
  const assertForwarded = async (paths: readonly string[]) => {
    for (const path of paths) {
      t.equal((await ask(t, url, `GET ${path}`)).status, 200, path)
      t.equal(backend.last().url, path, 'as it was sent')
    }
  }
  return { assertRefused, assertForwarded }
}

for (const encodedSlash of ['auto', 'pass', undefined] as const) {
  const option = encodedSlash === undefined ? {} : { encodedSlash }
  const what = `encodedSlash: ${encodedSlash ?? 'absent'}`

  t.test(`no encoded slash, case or parameter reaches another route's path, with ${what}`, async (t) => {
    const { assertRefused, assertForwarded } = await start(t, [
      { ...files, ...option },
      { ...hidden, ...option },
    ])
    await assertRefused([...confusing, ...confusingInCase])
    await assertForwarded(harmless)
  })

  t.test(`the other route's methods, host and options do not matter, with ${what}`, async (t) => {
    for (const other of [
      { methods: ['POST'] },
      ...(isApp() ? [] : [{ host: 'gateway.test' }]),
      { encodedSlash: 'reject' },
      { stripPrefix: true },
    ]) {
      const { assertRefused } = await start(t, [
        { ...files, ...option },
        { ...hidden, ...other },
      ])
      for (const method of ['GET', 'POST', 'OPTIONS']) await assertRefused(confusing, method)
      await assertRefused(confusingInCase)
    }
  })

  t.test(`a route for one method passes no path of another route, with ${what}`, onePerPath, async (t) => {
    const { assertRefused } = await start(t, [
      { ...files, ...option, methods: ['GET'], caseSensitive: true },
      { ...files, ...option, name: 'upload', methods: ['PUT'] },
      hidden,
    ])
    for (const method of ['GET', 'PUT', 'DELETE']) await assertRefused(confusing, method)
    for (const method of ['PUT', 'DELETE']) await assertRefused(confusingInCase, method)
  })

  t.test(`caseSensitive lets other case pass and nothing else, with ${what}`, async (t) => {
    const { assertRefused, assertForwarded } = await start(t, [
      { ...files, ...option, caseSensitive: true },
      { ...hidden, ...option },
    ])
    await assertRefused(confusing)
    await assertForwarded([...harmless, '/files/Private', '/files/%2FPRIVATE', '/files/%2550rivate'])
  })

  t.test(`a path is compared with the routes of its host only, with ${what}`, noHosts, async (t) => {
    const elsewhere = { ...hidden, host: 'other.test' }
    const { assertForwarded } = await start(t, [{ ...files, ...option }, elsewhere])
    await assertForwarded(['/files/%2Fprivate', '/files/private;a', '/files/Private', '/files/%252Fprivate'])
  })
}

t.test('a path that matches no route is refused if its decoded form matches one', async (t) => {
  const { assertRefused } = await start(t, [hidden])
  await assertRefused([...confusing, ...confusingInCase].filter((path) => !path.startsWith('/files/private')))
})
