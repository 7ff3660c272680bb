import type { Test } from 'tap'
import { isApp } from '../../setup/gateway.ts'
import type { RawResponse } from '../../setup/raw-client.ts'

interface Expected {
  readonly status: number
  readonly code: string
}

const members = ['type', 'title', 'status', 'code', 'detail', 'requestId']

/** What every error answer of the gateway looks like, whatever went wrong (RFC 9457). */
export function assertProblem(t: Test, response: RawResponse, { status, code }: Expected): void {
  t.equal(response.status, status, `status of ${code}`)
  t.equal(response.headers['content-type'], 'application/problem+json')
  t.equal(response.headers['cache-control'], 'no-store')
  t.equal(response.headers['content-length'], String(Buffer.byteLength(response.body, 'latin1')))
  const problem = response.json()
  t.match(problem, { type: `urn:gatehouse:${code}`, status, code })
  for (const name of ['title', 'requestId']) t.match(problem[name], /^.+$/, `${name} of ${code}`)
  // What is in `errors` need not be said twice; that detail is there all the same has a test of its own.
  if (code !== 'internal' && !problem.errors) t.match(problem.detail, /^.+$/, `detail of ${code}`)
  const extra = Object.keys(problem).filter((name) => !members.includes(name))
  t.strictSame(extra, problem.errors === undefined ? [] : ['errors'])
  t.notMatch(response.body, /127\.0\.0\.1|node_modules|\.ts:|ECONN/, 'no inner workings')
  if (status === 401) t.match(response.headers['www-authenticate'], /realm="gatehouse"/)
  if (status === 405) t.type(response.headers.allow, 'string')
  if (status === 503) t.match(response.headers['retry-after'], /^\d+$/)
}

/** The code of an error answer; undefined where it is none. */
export function codeOf(response: RawResponse): unknown {
  return response.status < 400 ? undefined : response.json().code
}

/**
 * That a request is refused as in assertProblem; in an app, where Node's parser or Fastify's router may refuse it before
 * the plugin is asked, by any of these.
 */
export function assertRefused(t: Test, response: RawResponse, expected: Expected): void {
  const isOwn = response.headers['content-type'] === 'application/problem+json'
  if (isOwn || !isApp()) assertProblem(t, response, expected)
  else t.match(String(response.status), /^(?:400|404|405|431|505)$/, `${expected.code}, by the app itself`)
}
