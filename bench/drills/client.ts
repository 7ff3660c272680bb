import { Agent, request } from 'node:http'

/** A keep-alive client that returns only the status. */
export interface DrillClient {
  /** @returns the status; 0 if there was no response */
  get(url: string, headers: Readonly<Record<string, string>>): Promise<number>
  /** @returns the body */
  text(url: string): Promise<string>
  post(
    url: string,
    body: object,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>
  /** Why there were no responses: counts of error codes, such as ECONNRESET. */
  errors(): ReadonlyMap<string, number>
  close(): void
}

export function createClient(): DrillClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const errors = new Map<string, number>()

  function send(url: string, method: string, headers: Readonly<Record<string, string>>, body?: string) {
    return new Promise<{ status: number; text: string }>((resolve) => {
      const call = request(url, { method, headers: { ...headers }, agent }, (response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        response.on('error', () => resolve({ status: 0, text: '' }))
      })
      call.on('error', ({ code = 'other' }: NodeJS.ErrnoException) => {
        errors.set(code, (errors.get(code) ?? 0) + 1)
        resolve({ status: 0, text: '' })
      })
      call.end(body)
    })
  }

  return {
    get: async (url, headers) => (await send(url, 'GET', headers)).status,
    text: async (url) => (await send(url, 'GET', {})).text,
    post: async (url, body) => {
      const { status, text } = await send(
        url,
        'POST',
        { 'Content-Type': 'application/json' },
        JSON.stringify(body),
      )
      return { status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) }
    },
    errors: () => errors,
    close: () => agent.destroy(),
  }
}
