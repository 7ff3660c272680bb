import { type Debugger, type InspectorNotification, Session } from 'node:inspector'
import type { Test } from 'tap'

/** The first line of every error that is thrown in this process until the test ends, also of those that are caught. */
export function recordThrownErrors(t: Test): readonly string[] {
  const errors: string[] = []
  const session = new Session()
  session.connect()
  session.on('Debugger.paused', ({ params }: InspectorNotification<Debugger.PausedEventDataType>) => {
    // The cast is sound: of an exception that is what the protocol has there.
    const { description } = (params.data ?? {}) as { readonly description?: string }
    errors.push(String(description).split('\n', 1)[0] ?? '')
  })
  session.post('Debugger.enable')
  session.post('Debugger.setPauseOnExceptions', { state: 'all' })
  t.teardown(() => session.disconnect())
  return errors
}
