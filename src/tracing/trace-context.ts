import { randomBytes } from 'node:crypto'

/** The place of a request in a trace (W3C Trace Context). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The caller's span; undefined if the trace starts here. 16 hexadecimal digits. */
  readonly parentId: string | undefined
  readonly isSampled: boolean
}

const pattern = /^(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const nothing = /^0+$/

/** @returns undefined if the text is malformed: then a trace starts here */
export function parseTraceparent(text: string): TraceContext | undefined {
  const [whole, version, traceId = '', parentId = '', flags = '', more] = pattern.exec(text) ?? []
  if (whole === undefined || nothing.test(traceId) || nothing.test(parentId)) return undefined
  // Only later versions may add something, which is then ignored (W3C Trace Context 4.3).
  if (version === '00' && more !== undefined) return undefined
  return { traceId, parentId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export function formatTraceparent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** 16 random bytes for a trace, as hexadecimal digits. */
export function newTraceId(): string {
  return randomBytes(16).toString('hex')
}

export function newSpanId(): string {
  return randomBytes(8).toString('hex')
}
