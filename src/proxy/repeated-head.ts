import type { Principal } from '../auth/principal.ts'
import { copyString } from '../platform/copy-string.ts'
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

interface CachedLines extends JoinedLines, Omit<ReusedFor, 'route' | 'client'> {
  /** Of the writer. */
  readonly options: object
  /** Of the route, and of its upstream: routes that are alike make the same lines. */
  readonly forwardsCredentials: boolean
  readonly passesMethodOverride: boolean
  readonly passesTrailers: boolean
  readonly upstreamHeaders: UpstreamHeaders | undefined
  readonly isTrusted: boolean
  readonly protocol: string
  /** What `beforeId` is for, and the length of what it has of others, too. */
  readonly forwardedFor: string
  readonly firstLength: number
}

/** Belongs to a head that repeats: a map of all such heads would be searched for each request. */
export interface RepeatedHead {
  /** For `reuseLines` alone. */
  lines: CachedLines | undefined
}

/** Builds the lines of a repeated head once. @param options of the writer that builds them */
export function reuseLines<Input extends ReusedFor>(
  repeated: RepeatedHead,
  input: Input,
  options: object,
  build: (input: Input) => HeadLines,
): JoinedLines {
  const { rawHeaders, route, principal, strippedPrefix, isUpgrade } = input
  const { isTrusted, protocol, forwardedFor } = input.client
  const { forwardsCredentials, passesMethodOverride, passesTrailers } = route
  const { headers: upstreamHeaders } = route.upstream
  const cached = repeated.lines
  if (
    cached?.rawHeaders === rawHeaders &&
    cached.options === options &&
    cached.forwardsCredentials === forwardsCredentials &&
    cached.passesMethodOverride === passesMethodOverride &&
    cached.passesTrailers === passesTrailers &&
    cached.upstreamHeaders === upstreamHeaders &&
    cached.principal === principal &&
    cached.isUpgrade === isUpgrade &&
    cached.isTrusted === isTrusted &&
    cached.protocol === protocol &&
    // What others have stripped is read from the same fields.
    cached.strippedPrefix?.own === strippedPrefix?.own
  )
    return cached.forwardedFor === forwardedFor ? cached : linesFor(forwardedFor, cached)
  const built = build(input)
  const { beforeId, afterId } = joinLines(built, forwardedFor)
  // Copied into one flat string each: a concatenated one would be flattened again for each request.
  const lines = { beforeId: copyString(beforeId), afterId: copyString(afterId) }
  repeated.lines = {
    ...lines,
    rawHeaders,
    options,
    forwardsCredentials,
    passesMethodOverride,
    passesTrailers,
    upstreamHeaders,
    principal,
    strippedPrefix,
    isUpgrade,
    isTrusted,
    protocol,
    forwardedFor: copyString(forwardedFor),
    firstLength: built.first.length,
  }
  return lines
}

function linesFor(forwardedFor: string, { beforeId, afterId, firstLength }: CachedLines): JoinedLines {
  return { beforeId: beforeId.slice(0, firstLength) + linesToId(forwardedFor), afterId }
}
