import type { Principal } from '../auth/principal.ts'
import { copyString, sharedCopy } from '../platform/copy-string.ts'
import type { Route } from '../routes/route.ts'
import type { UpstreamHeaders } from '../upstream/upstream-headers.ts'
import type { Client } from './client.ts'
import type { StrippedPrefix } from './stripped-prefix.ts'

/** What the head depends on of the upstream that gets it. */
export interface HeadUpstream {
  readonly name: string
  /** The fields that it gets instead of the client's; undefined = none. */
  readonly headers: UpstreamHeaders | undefined
}

/** The lines that stay the same between requests with the same fields. */
export interface HeadLines {
  /** The client's forwarded fields, the framing, the fields set for the upstream, and the client's protocol and host. */
  readonly first: string
  readonly identity: string
}

/** The same, with what is usually the same too: V8 copies each of the texts that one is joined from on its own. */
export interface JoinedLines {
  /** Up to the ID of the request. */
  readonly beforeId: string
  /** The end of its line, and the identity. */
  readonly afterId: string
}

export function joinLines({ first, identity }: HeadLines, forwardedFor: string): JoinedLines {
  return { beforeId: first + linesToId(forwardedFor), afterId: `\r\n${identity}` }
}

function linesToId(forwardedFor: string): string {
  return `X-Forwarded-For: ${forwardedFor}\r\nX-Request-Id: `
}

/** What the lines depend on. */
export interface ReusedFor {
  /** Name, value, name, value, as they arrived. */
  readonly rawHeaders: readonly string[]
  readonly route: Pick<
    Route<HeadUpstream>,
    'forwardsCredentials' | 'passesMethodOverride' | 'passesTrailers' | 'upstream'
  >
  readonly principal: Principal | undefined
  /** undefined = the route strips nothing. */
  readonly strippedPrefix: StrippedPrefix | undefined
  readonly isUpgrade: boolean
  readonly client: Pick<Client, 'isTrusted' | 'protocol' | 'forwardedFor'>
}

interface CachedLines extends JoinedLines {
  readonly owner: object
  readonly rawHeaders: readonly string[]
  readonly principal: Principal | undefined
  /** Of the route, and of its upstream: routes that are alike make the same lines. */
  readonly switches: number
  readonly upstreamHeaders: UpstreamHeaders | undefined
  readonly protocol: string
  /** undefined = the route strips nothing. */
  readonly ownPrefix: string | undefined
  /** What `beforeId` is for, and the length of what it has of others, too. */
  readonly forwardedFor: string
  readonly firstLength: number
}

/** Belongs to a head that repeats: a map of all such heads would be searched for each request. */
export interface RepeatedHead {
  /** For RepeatedLines alone. */
  lines: CachedLines | undefined
}

/**
 * Builds the lines of each repeated head once.
 * @typeParam Input what they are built from
 */
export class RepeatedLines<Input extends ReusedFor = ReusedFor> {
  readonly #build: (input: Input) => HeadLines
  /** Weakly: they may hold secrets, and go with their head. */
  #latest: WeakRef<CachedLines> | undefined

  constructor(build: (input: Input) => HeadLines) {
    this.#build = build
  }

  of(repeated: RepeatedHead, input: Input): JoinedLines {
    const { protocol, forwardedFor } = input.client
    const cached = repeated.lines
    if (
      cached?.owner === this &&
      cached.rawHeaders === input.rawHeaders &&
      cached.principal === input.principal &&
      cached.switches === switchesOf(input) &&
      cached.upstreamHeaders === input.route.upstream.headers &&
      cached.protocol === protocol &&
      // What others have stripped is read from the same fields.
      cached.ownPrefix === input.strippedPrefix?.own
    )
      return cached.forwardedFor === forwardedFor ? cached : linesFor(forwardedFor, cached)
    return this.#keep(repeated, input)
  }

  #keep(repeated: RepeatedHead, input: Input): JoinedLines {
    const { rawHeaders, principal, client, strippedPrefix } = input
    const built = this.#build(input)
    const { beforeId, afterId } = joinLines(built, client.forwardedFor)
    const latest = this.#latest?.deref()
    // Copied into one flat string each: a concatenated one would be flattened again for each request. Clients of one kind
    // mostly differ in the identity alone.
    const lines: CachedLines = {
      beforeId: sharedCopy(beforeId, latest?.beforeId),
      afterId: copyString(afterId),
      owner: this,
      rawHeaders,
      principal,
      switches: switchesOf(input),
      upstreamHeaders: input.route.upstream.headers,
      protocol: client.protocol,
      ownPrefix: strippedPrefix?.own,
      forwardedFor: sharedCopy(client.forwardedFor, latest?.forwardedFor),
      firstLength: built.first.length,
    }
    if (lines.beforeId !== latest?.beforeId) this.#latest = new WeakRef(lines)
    repeated.lines = lines
    return lines
  }
}

/** All that can only be so or not, one bit each. */
function switchesOf({ route, isUpgrade, client }: ReusedFor): number {
  return (
    (route.forwardsCredentials ? 1 : 0) |
    (route.passesMethodOverride ? 2 : 0) |
    (route.passesTrailers ? 4 : 0) |
    (isUpgrade ? 8 : 0) |
    (client.isTrusted ? 16 : 0)
  )
}

function linesFor(forwardedFor: string, { beforeId, afterId, firstLength }: CachedLines): JoinedLines {
  return { beforeId: beforeId.slice(0, firstLength) + linesToId(forwardedFor), afterId }
}
