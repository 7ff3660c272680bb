import { UpstreamFailure } from '../failure.ts'

/** What a request that waits for a connection lacks: one that is free, or room in the share of somebody. */
export type MissingShare = 'pool' | 'network' | 'account' | 'session' | 'bodies'

const users: Readonly<Record<Exclude<MissingShare, 'pool'>, string>> = {
  network: 'its client network',
  account: 'its account',
  session: 'its HTTP/2 connection',
  bodies: 'requests whose bodies are still arriving',
}

/** A request has waited in vain for a connection to its target. */
export class NoConnection extends UpstreamFailure {
  readonly share: MissingShare

  /** @param inUse how many the share has */
  constructor(share: MissingShare, inUse: number, limits: { connectionsMax: number; waitedMs: number }) {
    const { connectionsMax, waitedMs } = limits
    const what =
      share === 'pool'
        ? `all ${connectionsMax} connections were in use`
        : `${users[share]} had a whole share in use, ${inUse} of ${connectionsMax} connections,`
    super('no-connection', `${what} for ${waitedMs} ms`)
    this.share = share
  }
}
