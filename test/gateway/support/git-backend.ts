import { execFile, spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'
import { assertProgram } from '../../setup/missing-program.ts'

// uses: git

const run = promisify(execFile)

/** Runs git without the settings of the user who runs the tests. @returns what it printed */
export async function git(home: string, ...args: readonly string[]): Promise<string> {
  assertProgram('git')
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  }
  const { stdout } = await run('git', args, { env, cwd: home, maxBuffer: 100 * 1_048_576 })
  return stdout.trim()
}

export interface GitBackend {
  readonly url: string
  /** Who the gateway said it was, request by request. */
  readonly users: (string | undefined)[]
  readonly requests: IncomingMessage[]
}

/** `git http-backend` behind a plain CGI bridge: a backend that knows nothing of tokens and keys. */
export async function startGitBackend(t: Test, root: string): Promise<GitBackend> {
  const users: (string | undefined)[] = []
  const requests: IncomingMessage[] = []
  const url = await startServer(t, (request, response) => {
    users.push(request.headers['x-user-id']?.toString())
    requests.push(request)
    serve(root, request, response)
  })
  return { url, users, requests }
}

/** RFC 3875, as far as git wants it. */
function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '', 'http://git.test')
  const { headers } = request
  const child = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      HOME: root,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
      REMOTE_USER: headers['x-user-id']?.toString(),
    },
  })
  request.pipe(child.stdin).on('error', () => {})
  let head = Buffer.alloc(0)
  child.stdout.on('data', function readHead(chunk: Buffer) {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end === -1) return
    child.stdout.off('data', readHead)
    answer(response, head.toString('latin1', 0, end))
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  })
}

function answer(response: ServerResponse, head: string): void {
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':')
    const value = line.slice(colon + 1).trim()
    if (line.startsWith('Status:')) response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(line.slice(0, colon), value)
  }
}
