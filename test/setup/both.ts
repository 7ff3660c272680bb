import type { Test } from 'tap'
import { type Answer, type Backend, startBackend } from './backend.ts'
import { startGateway, type TestGateway, type TestGatewayOptions } from './gateway.ts'

export interface BothOptions extends Omit<TestGatewayOptions, 'backend'> {
  /** What the backend does with a request; default: it says `ok`. */
  readonly answer?: Answer
}

/** A gateway, as itself and as `gateway`, and the backend behind it. */
export interface Both extends TestGateway {
  readonly gateway: TestGateway
  readonly backend: Backend
}

/** A gateway with a backend behind it, which records what it got: both gone with the test. */
export async function startBoth(t: Test, { answer, ...options }: BothOptions = {}): Promise<Both> {
  const backend = await startBackend(t, answer)
  const gateway = await startGateway(t, { ...options, backend: backend.url })
  return { ...gateway, gateway, backend }
}
