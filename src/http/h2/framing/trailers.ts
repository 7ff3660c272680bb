import { MalformedMessage } from '../../exchange/malformed-message.ts'
import { checkField } from '../field-rules.ts'
import { MalformedStream } from './errors.ts'

/** Whether they may follow a body. Of a server they are checked as those of its head are (http/client/http2). */
export function areTrailers(fields: readonly string[], isServer: boolean): boolean {
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? ''
    if (name.startsWith(':') || (isServer && !isField(name, fields[index + 1] ?? ''))) return false
  }
  return true
}

function isField(name: string, value: string): boolean {
  try {
    checkField(name, value)
    return true
  } catch (error) {
    if (error instanceof MalformedStream || error instanceof MalformedMessage) return false
    throw error
  }
}
