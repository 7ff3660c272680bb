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

/** With the line of the ID of their request between those that it follows and the identity. */
export function joinLines({ first, identity }: HeadLines, forwardedFor: string, id: string): string {
  return first + linesToId(forwardedFor) + id + linesFromId(identity)
}

function linesToId(forwardedFor: string): string {
  return `X-Forwarded-For: ${forwardedFor}\r\nX-Request-Id: `
}

/** The end of its line first. */
function linesFromId(identity: string): string {
  return `\r\n${identity}`
}

/** What the lines depend on. */
export interface ReusedFor {
  /** Name, value, name, value, as they arrived. */
  readonly rawHeaders: readonly string[]
  readonly route: Pick<
    Route<HeadUpstream>,
    'forwardsCredentials' | 'access' | 'passesMethodOverride' | 'passesTrailers' | 'upstream'
  >
  readonly principal: Principal | undefined
  /** undefined = the route strips nothing. */
  readonly strippedPrefix: StrippedPrefix | undefined
  readonly isUpgrade: boolean
  /** Whether the upstream is told that no request follows on the connection (see isLastOnConnection). */
  readonly isLast: boolean
  readonly client: Pick<Client, 'isTrusted' | 'protocol' | 'forwardedFor'>
}

/** Lines that many heads have in common, and what they depend on. */
interface CommonLines {
  /** Up to the ID of the request: V8 copies each of the texts that one is joined from on its own. */
  readonly toId: string
  readonly owner: object
  /** Of the route, and of its upstream: routes that are alike make the same lines. */
  readonly switches: number
  readonly upstreamHeaders: UpstreamHeaders | undefined
  readonly protocol: string
  /** undefined = the route strips nothing. */
  readonly ownPrefix: string | undefined
  /** What `toId` is for, and the length of what it has of others, too. */
  readonly forwardedFor: string
  readonly firstLength: number
}

/**
 * Belongs to a head that repeats: a map of all such heads would be searched for each request. For RepeatedLines alone:
 * what is of this head, apart from what it has in common with others, as few lines of the core's cache hold what belongs
 * to one client of many.
 */
export interface RepeatedHead {
  /** undefined = none were built yet. */
  commonLines: CommonLines | undefined
  /** What follows the ID. */
  linesFromId: string
  /** What it is for, too. */
  linesOf: readonly string[] | undefined
  caller: Principal | undefined
}

/**
 * Builds the lines of each repeated head once.
 * @typeParam Input what they are built from
 */
export class RepeatedLines<Input extends ReusedFor = ReusedFor> {
  readonly #build: (input: Input) => HeadLines
  /** Weakly: they may hold secrets, and go with their heads. */
  #latest: WeakRef<CommonLines> | undefined

  constructor(build: (input: Input) => HeadLines) {
    this.#build = build
  }

  /** As joinLines, of the lines that are built from the input. */
  join(repeated: RepeatedHead, input: Input, id: string): string {
    const { protocol, forwardedFor } = input.client
    const common = repeated.commonLines
    if (
      common?.owner === this &&
      repeated.linesOf === input.rawHeaders &&
      repeated.caller === input.principal &&
      common.switches === switchesOf(input) &&
      common.upstreamHeaders === input.route.upstream.headers &&
      common.protocol === protocol &&
      // What others have stripped is read from the same fields.
      common.ownPrefix === input.strippedPrefix?.own
    )
      return common.forwardedFor === forwardedFor
        ? common.toId + id + repeated.linesFromId
        : common.toId.slice(0, common.firstLength) + linesToId(forwardedFor) + id + repeated.linesFromId
    return this.#buildAndKeep(repeated, input, id)
  }

  #buildAndKeep(repeated: RepeatedHead, input: Input, id: string): string {
    const { first, identity } = this.#build(input)
    // Copied into one flat string each: a concatenated one would be flattened again for each request.
    repeated.commonLines = this.#commonOf(first, input)
    repeated.linesFromId = copyString(linesFromId(identity))
    repeated.linesOf = input.rawHeaders
    repeated.caller = input.principal
    return repeated.commonLines.toId + id + repeated.linesFromId
  }

  /** Clients of one kind mostly differ in the identity alone. */
  #commonOf(first: string, input: Input): CommonLines {
    const { client, strippedPrefix } = input
    const toId = first + linesToId(client.forwardedFor)
    const latest = this.#latest?.deref()
    const built: CommonLines = {
      toId: sharedCopy(toId, latest?.toId),
      owner: this,
      switches: switchesOf(input),
      upstreamHeaders: input.route.upstream.headers,
      protocol: client.protocol,
      ownPrefix: strippedPrefix?.own,
      forwardedFor: sharedCopy(client.forwardedFor, latest?.forwardedFor),
      firstLength: first.length,
    }
    if (latest !== undefined && isSame(latest, built)) return latest
    this.#latest = new WeakRef(built)
    return built
  }
}

/** Of lines of one owner. The rest follows from what is compared. */
function isSame(one: CommonLines, other: CommonLines): boolean {
  return (
    one.toId === other.toId &&
    one.switches === other.switches &&
    one.upstreamHeaders === other.upstreamHeaders &&
    one.protocol === other.protocol &&
    one.ownPrefix === other.ownPrefix &&
    one.forwardedFor === other.forwardedFor
  )
}

/** All that can only be so or not, one bit each. */
function switchesOf({ route, isUpgrade, isLast, client }: ReusedFor): number {
  return (
    (route.forwardsCredentials ? 1 : 0) |
    (route.passesMethodOverride ? 2 : 0) |
    (route.passesTrailers ? 4 : 0) |
    (isUpgrade ? 8 : 0) |
    (client.isTrusted ? 16 : 0) |
    (isLast ? 32 : 0) |
    (route.access.leavesAuthorization ? 64 : 0)
  )
}
