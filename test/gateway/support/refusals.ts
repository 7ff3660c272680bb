import type { Test } from 'tap'
import { ask } from './ask.ts'
import { assertProblem } from './problem.ts'

interface Details {
  readonly headers?: readonly string[]
  readonly body?: string
  /** WWW-Authenticate, line by line, without descriptions; absent = there must be none. */
  readonly challenge?: string
  readonly allow?: string
}

/** What a request is, its method and target, the status and code that come of it, and what else matters. */
export type Refusal = readonly [does: string, line: string, outcome: `${number} ${string}`, details?: Details]

/** Sends each request and looks at all that its refusal says. */
export async function assertRefusals(t: Test, url: string, refusals: readonly Refusal[]): Promise<void> {
  for (const [does, line, outcome, { headers, body, challenge, allow } = {}] of refusals) {
    await t.test(`${does} is ${outcome}`, async (t) => {
      const response = await ask(t, url, line, headers, body)
      const [status, code = ''] = outcome.split(' ')
      assertProblem(t, response, { status: Number(status), code })
      const challenges = response.headers['www-authenticate']
      t.equal(challenges?.replaceAll(/, error_description="[^"\\]+"/g, ''), challenge, 'WWW-Authenticate')
      t.equal(response.headers.allow, allow, 'Allow')
      t.equal(response.headers['x-request-id'], response.json().requestId)
      t.equal(response.headers['set-cookie'], undefined)
    })
  }
}
