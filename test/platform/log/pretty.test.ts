import t from 'tap'
import { prettyLine } from '#platform/log/pretty.ts'

const time = '2026-11-23T12:34:56.789Z'
const plain = { hasColors: false }

function lineOf(members: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ level: 'info', time, ...members })}\n`
}

t.test('a line has its time, level and message, and then every other member by name', async (t) => {
  t.equal(
    prettyLine(
      lineOf({ worker: 2, url: 'http://127.0.0.1:8080', pid: 7, note: 'two words', msg: 'listening' }),
      plain,
    ),
    '12:34:56.789Z INFO  listening worker=2 url=http://127.0.0.1:8080 pid=7 note="two words"\n',
  )
})

t.test('a request begins with its method, path, status and duration', async (t) => {
  const request = { method: 'GET', path: '/orders', route: 'orders', status: 200, durationMs: 1.234 }
  t.equal(
    prettyLine(lineOf({ requestId: 'r1', ...request, isComplete: true, msg: 'request' }), plain),
    '12:34:56.789Z INFO  GET /orders 200 1.2 ms requestId=r1 route=orders isComplete=true\n',
  )
})

t.test('a request that could not be parsed is shown as any other line', async (t) => {
  t.equal(
    prettyLine(lineOf({ client: '::1', status: 400, code: 'request-invalid', msg: 'request' }), plain),
    '12:34:56.789Z INFO  request client=::1 status=400 code=request-invalid\n',
  )
})

t.test('an error follows in lines of its own, with its stack and causes', async (t) => {
  const cause = { name: 'Error', message: 'refused', code: 'ECONNREFUSED' }
  const err = { name: 'TypeError', message: 'm', stack: 'TypeError: m\n    at f (x.ts:1:1)', cause }
  t.equal(
    prettyLine(lineOf({ level: 'error', err, msg: 'failed' }), plain),
    '12:34:56.789Z ERROR failed\n  TypeError: m\n      at f (x.ts:1:1)\n  caused by Error: refused (ECONNREFUSED)\n',
  )
})

t.test('nothing of a request reaches the terminal as a control character', async (t) => {
  const evil = '\u001b]0;title\u0007\u009b2J\r\n\u202e\u2028'
  const members = {
    method: `G${evil}`,
    path: `/${evil}`,
    status: 400,
    durationMs: 0,
    reason: evil,
    msg: 'request',
  }
  const err = { name: evil, message: evil, stack: `Error: ${evil}` }
  for (const options of [plain, { hasColors: true }]) {
    const text = prettyLine(lineOf({ ...members, [evil]: evil, err }), options)
    const withoutColors = text.replaceAll(/\u001b\[\d+m/g, '')
    t.notMatch(withoutColors.replaceAll('\n', ''), /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
    t.match(withoutColors, /\\u001b\]0;title/)
  }
})

t.test('colours show the level and the kind of status', async (t) => {
  const request = (status: number) =>
    prettyLine(lineOf({ method: 'GET', path: '/', status, durationMs: 0, msg: 'request' }), {
      hasColors: true,
    })
  t.match(request(200), '\u001b[32m200')
  t.match(request(302), '\u001b[36m302')
  t.match(request(404), '\u001b[33m404')
  t.match(request(502), '\u001b[31m502')
  t.match(prettyLine(lineOf({ level: 'warn', msg: 'm' }), { hasColors: true }), '\u001b[33mWARN')
})

t.test('what is no JSON object is shown as it is', async (t) => {
  t.equal(prettyLine('text\n', plain), 'text\n')
})
