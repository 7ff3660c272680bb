import type { IncomingMessage } from 'node:http'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

export interface PatientBackend {
  readonly url: string
  /** Targets of all requests that have begun. */
  readonly begun: string[]
  /** Requests that came whole, with their bodies. */
  readonly whole: { readonly request: IncomingMessage; readonly body: string }[]
}

/** A backend that does not fail when a request is aborted, and counts it apart from the complete ones. */
export async function startPatientBackend(t: Test): Promise<PatientBackend> {
  const begun: string[] = []
  const whole: PatientBackend['whole'] = []
  const url = await startServer(t, (request, response) => {
    const chunks: Buffer[] = []
    begun.push(request.url ?? '')
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      whole.push({ request, body: Buffer.concat(chunks).toString('latin1') })
      response.end('ok')
    })
  })
  return { url, begun, whole }
}
