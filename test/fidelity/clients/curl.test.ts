import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { type ReceivedRequest, startBackend } from '../../setup/backend.ts'
import { runClient, startPlace, tempFolder } from './client-gateway.ts'

// needs: curl

const text = 'The quick brown fox. '.repeat(500)

/** A backend that knows ranges and gzip, and summarises each request. */
async function start(t: Test) {
  const connections = new Set<unknown>()
  const backend = await startBackend(t, (request, response, seen) => {
    connections.add(request.socket)
    if (seen.url.startsWith('/gzip')) {
      response.setHeader('Content-Encoding', 'gzip')
      return response.end(gzipSync(text))
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (!range) return response.end(describe(seen))
    const [from, to] = [Number(range[1]), Number(range[2])]
    response.writeHead(206, { 'Content-Range': `bytes ${from}-${to}/${text.length}` })
    return response.end(text.slice(from, to + 1))
  })
  const place = await startPlace(t, backend.url)
  const root = tempFolder(t)
  function curl(...args: readonly string[]) {
    return runClient('curl', ['-sS', '-H', `SecretKey: ${place.secretKey}`, ...args], { cwd: root })
  }
  return { backend, place, root, curl }
}

function describe({ method, url, body }: ReceivedRequest): string {
  return `${method} ${url} ${body.length}`
}

t.test('curl --http1.0 gets an answer without chunks', async (t) => {
  const { place, curl } = await start(t)
  const { status, stdout } = await curl('--http1.0', '-i', `${place.url}/old`)
  t.equal(status, 0)
  t.match(stdout, /\r\n\r\nGET \/old 0$/)
  t.notMatch(stdout, /transfer-encoding/i)
})

t.test('curl -T uploads with and without waiting for 100, and chunked from a pipe', async (t) => {
  const { backend, place, root, curl } = await start(t)
  const file = join(root, 'file.bin')
  writeFileSync(file, randomBytes(3_000_000))
  const bytes = readFileSync(file).toString('latin1')
  for (const args of [
    ['-T', file, '-H', 'Expect: 100-continue', '--expect100-timeout', '30'],
    ['-T', file, '-H', 'Expect:'],
    ['-T', file, '-H', 'Transfer-Encoding: chunked'],
    ['-X', 'POST', '--data-binary', `@${file}`, '-H', 'Transfer-Encoding: chunked'],
    ['--data-binary', `@${file}`],
  ]) {
    const { stdout, stderr } = await curl(...args, `${place.url}/up`)
    t.match(stdout, /^(?:PUT|POST) \/up 3000000$/, `${args.join(' ')}: ${stderr}`)
    t.ok(backend.last().body === bytes, 'every byte has arrived')
  }
})

t.test('a key that is wrong costs no upload: 401 comes instead of 100', async (t) => {
  const { backend, place, root } = await start(t)
  const file = join(root, 'file.bin')
  writeFileSync(file, randomBytes(3_000_000))
  const format = '%{http_code} %{size_upload}'
  const args = ['-sS', '-o', '/dev/null', '-w', format, '--expect100-timeout', '30', '-H', 'SecretKey: wrong']
  const { stdout } = await runClient('curl', [...args, '-H', 'Expect: 100-continue', '-T', file, place.url], {
    cwd: root,
  })
  t.equal(stdout, '401 0')
  t.equal(backend.seen.length, 0)
})

t.test('curl --range and --compressed work', async (t) => {
  const { place, curl } = await start(t)
  const part = await curl('--range', '4-8', '-w', ' %{http_code}', `${place.url}/text`)
  t.equal(part.stdout, 'quick 206')
  t.equal((await curl('--compressed', `${place.url}/gzip`)).stdout, text)
  const raw = await curl('-H', 'Accept-Encoding: gzip', `${place.url}/gzip`)
  t.ok(Buffer.from(raw.stdout, 'latin1').equals(gzipSync(text)), 'unopened, byte for byte')
})

t.test('curl --path-as-is with dot segments is refused, --request-target is taken as is', async (t) => {
  const { backend, place, curl } = await start(t)
  const climbing = await curl('--path-as-is', '-w', ' %{http_code}', `${place.url}/a/../b`)
  t.match(climbing.stdout, /path-ambiguous.* 400$/s)
  t.equal(backend.seen.length, 0)
  const target = '/%41%2C;v=1?q=a|b&q=%zz'
  t.equal((await curl('--request-target', target, place.url)).stdout, `GET ${target} 0`)
  const absolute = await curl('--request-target', 'http://elsewhere.example/x?y', place.url)
  t.equal(absolute.stdout, 'GET /x?y 0')
  t.match(
    (await curl('--request-target', '*', '-X', 'TRACE', '-w', ' %{http_code}', place.url)).stdout,
    / 40[05]$/,
  )
})

t.test('curl -X works with unusual methods', async (t) => {
  const { place, curl } = await start(t)
  for (const method of ['QUERY', 'PURGE', 'REPORT', 'MKCALENDAR', 'M-SEARCH', 'SUBSCRIBE', 'ACL']) {
    const { stdout } = await curl('-X', method, '--data', 'body', `${place.url}/m`)
    t.equal(stdout, `${method} /m 4`)
  }
  const head = await curl('-I', `${place.url}/m`)
  t.match(head.stdout, /^HTTP\/1\.1 200 OK\r\n/)
})

t.test('curl --next: bodies, ranges, HEAD and refusals share one connection undisturbed', async (t) => {
  const { backend, place, curl } = await start(t)
  const key = ['-H', `SecretKey: ${place.secretKey}`]
  const { stdout, stderr } = await curl(
    '-w',
    ' %{http_code}/%{num_connects}\n',
    `${place.url}/1`,
    '--next',
    '-sS',
    ...key,
    '-w',
    ' %{http_code}/%{num_connects}\n',
    '--data',
    'abc',
    `${place.url}/2`,
    '--next',
    '-sS',
    '-w',
    ' %{http_code}/%{num_connects}\n',
    '-o',
    '/dev/null',
    `${place.url}/refused`,
    '--next',
    '-sS',
    ...key,
    '-w',
    ' %{http_code}/%{num_connects}\n',
    '-r',
    '0-2',
    `${place.url}/3`,
    '--next',
    '-sS',
    ...key,
    '-w',
    ' %{http_code}/%{num_connects}\n',
    '-X',
    'DELETE',
    `${place.url}/4`,
  )
  t.strictSame(
    stdout.split('\n'),
    ['GET /1 0 200/1', 'POST /2 3 200/0', ' 401/0', 'The 206/0', 'DELETE /4 0 200/0', ''],
    stderr,
  )
  t.equal(backend.seen.length, 4)
})
