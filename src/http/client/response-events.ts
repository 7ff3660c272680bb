import type { ResponseFraming } from '../exchange/client-exchange.ts'
import type { ResponseHead } from './response-head.ts'

/** The events of a parser. A head is followed by its data and one end; after a throw there are no more events. */
export interface ResponseEvents {
  /** Any 1xx except 101. */
  onInformation(head: ResponseHead): void
  onHead(head: ResponseHead, connection: ConnectionPersistence, framing: ResponseFraming): void
  onData(chunk: Buffer): void
  /** @param trailers name, value, name, value @param last the rest of a counted body, in Latin-1; absent = it was data */
  onEnd(trailers: readonly string[], last?: string): void
  /** 101: what follows is no longer HTTP. */
  onUpgrade(head: ResponseHead, rest: Buffer): void
}

/** What the upstream says about its connection. */
export interface ConnectionPersistence {
  readonly isPersistent: boolean
  /** Whether a body may follow where none is allowed: the connection is not to be reused. absent = it may not */
  readonly mayHaveStrayBody?: boolean
  /** `Keep-Alive: timeout=…`; undefined = not sent. */
  readonly keepAliveMs: number | undefined
  /** Whether the upstream authenticates connections (see connection-auth.ts). absent = it does not say so */
  readonly bindsConnection?: boolean
}
