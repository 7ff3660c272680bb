import { scopePattern } from '#accounts/keys/input.ts'
import { createResponseHeaders } from '#gateway/routes/response-fields.ts'
import type { CostTerm } from '#gateway/routes/route.ts'
import {
  choice,
  duration,
  either,
  flag,
  headerChanges,
  headerName,
  item,
  list,
  named,
  namePattern,
  rate,
  section,
  size,
  text,
} from './fields.ts'
import { convert, convertResolved, type Field, optional, renamed } from './node.ts'

const costPath = '[A-Za-z0-9_-]{1,64}(?:\\.[A-Za-z0-9_-]{1,64}){0,7}'
const costPathsPattern = `^${costPath}(?: \\| ${costPath}){0,3}$`

const factor: Field<number> = {
  type: 'number',
  minimum: 0,
  maximum: 1_000_000_000,
  description: 'What the number is multiplied by.',
}

const costField = convert<string | Readonly<Record<string, number>>, readonly CostTerm[]>(
  either(
    text({ pattern: costPathsPattern, description: 'The path of one number.' }),
    named(
      factor,
      { minProperties: 1, maxProperties: 8, description: 'Several numbers that add up, each with a factor.' },
      costPathsPattern,
    ),
    {
      description:
        'Where the body of a response (JSON or an event stream) says how many units a request used: the dotted path of a number, such as usage.total_tokens, or up to 8 paths with a factor each, which add up. `a.b | c.b` names two alternatives. Of several events or lines, the last that has it counts. The sum is rounded up, and is at most 1000000000. The body passes as it is; the upstream is asked not to compress it. A costHeader in the response takes precedence. Absent, or without any of the fields, a request is one unit.',
    },
  ),
  toCostTerms,
)

function toCostTerms(costField: string | Readonly<Record<string, number>>): readonly CostTerm[] {
  const factors = typeof costField === 'string' ? { [costField]: 1 } : costField
  return Object.entries(factors).map(([paths, factor]) => ({ paths: paths.split(' | '), factor }))
}

export const route = convertResolved(
  item('Sends matching requests to an upstream.', {
    name: text({ pattern: namePattern, description: 'Unique name, seen in logs and metrics.' }),
    host: optional(
      text({
        description:
          'Host name that a request must have, ignoring port and case; absent = any. `*.example.com` stands for one or more labels before `.example.com`.',
      }),
    ),
    path: text({
      pattern: '^/',
      description:
        'Prefix on whole segments, without wildcards: `/admin` matches itself and everything below it. The longest wins; of equal ones, a route with a host wins, one with a wildcard after it, and a longer wildcard before a shorter one.',
    }),
    methods: optional(
      list(text({ description: 'An HTTP method.' }), {
        minItems: 1,
        uniqueItems: true,
        description:
          'Methods it accepts; GET includes HEAD; absent = any that no other route with the same host and path names.',
      }),
    ),
    upstream: optional(
      text({
        description:
          'Name of the upstream; may be left out if only the `decide` listener uses the route, and with `auth: deny`.',
      }),
    ),
    auth: choice(['secretKey', 'bearer', 'any', 'optional', 'none', 'deny'], {
      description:
        'Which credentials it accepts: any = either kind, optional = either kind or none at all, none = public, credentials are ignored; deny = everybody is refused with 403, whatever the other options are.',
    }),
    authorization: choice(['gateway', 'backend'], {
      default: 'gateway',
      description:
        "Whose the Authorization field is: gateway = it may hold the caller's credential; backend = it is not read and reaches the upstream unchanged, Bearer and Basic too, and the caller is identified by a key in a header of `keys.accept` or by the access cookie. A credential of the gateway in it is refused.",
    }),
    roles: optional(
      list(text({ description: 'A role.' }), {
        minItems: 1,
        uniqueItems: true,
        description: 'Allowed roles; absent = any.',
      }),
    ),
    scopes: optional(
      list(text({ pattern: scopePattern, description: 'A scope.' }), {
        minItems: 1,
        maxItems: 32,
        uniqueItems: true,
        description:
          'Scopes that a key or token must all have, if it has any; one without scopes passes. Absent = only keys and tokens without scopes pass.',
      }),
    ),
    verifiedOnly: flag(false, 'Whether only accounts with a verified e-mail are allowed.'),
    issuers: list(text({ pattern: namePattern, description: 'Name of an issuer.' }), {
      default: [],
      uniqueItems: true,
      description: 'Names of foreign issuers whose tokens it accepts too, besides those of the gateway.',
    }),
    stripPrefix: flag(
      false,
      'Whether the path prefix is removed before forwarding: the same as `rewrite: /`.',
    ),
    rewrite: optional(
      text({
        pattern: '^/',
        description:
          'What replaces `path` for the upstream: with `/socket`, a route with the path `/realtime/v1` forwards `/realtime/v1/x` as `/socket/x`. The upstream gets the path prefix in X-Forwarded-Prefix, and the gateway puts it back in Location, Content-Location, Refresh, Link and the Path of Set-Cookie.',
      }),
    ),
    responseHeaders: convertResolved(
      headerChanges(
        text({
          description:
            'The value of a field by its name: visible ASCII, at most 8,192 characters. It replaces all fields of the backend with that name.',
        }),
        {
          description: 'Changes to the header fields of responses of the backend.',
          set: 'Fields set in every final response of the backend: at most 64, and 16,384 characters together. Responses of the gateway itself, such as refusals, do not have them.',
          remove: 'Fields and trailer fields of the backend that clients do not get.',
        },
      ),
      ({ set, remove }) => createResponseHeaders(set, remove),
    ),
    destination: choice(['forwarded', 'public', 'target'], {
      default: 'forwarded',
      description:
        'What the upstream gets as `Destination` (WebDAV): forwarded = with the scheme and host of X-Forwarded-*, without a replaced prefix; public = the same with the prefix, for a backend that knows it; target = a URL of the backend itself, with the Host that it gets, for a backend that ignores X-Forwarded-*.',
    }),
    websocket: flag(
      false,
      'Whether Upgrade: websocket is proxied; if not, such a request is forwarded as an ordinary one, or refused over HTTP/2.',
    ),
    encodedSlash: choice(['auto', 'reject', 'pass'], {
      default: 'auto',
      description:
        'Whether a path with %2F or %5C in it is rejected or forwarded. auto and pass are the same: a path that would match another route once decoded, or decoded twice, is rejected anyway.',
    }),
    emptySegments: choice(['reject', 'pass'], {
      default: 'reject',
      description:
        'Whether a path with two slashes in a row is rejected or forwarded as it was sent. pass still rejects one that would match another route, or a path of the gateway itself, without the empty segments.',
    }),
    caseSensitive: flag(
      false,
      'Whether paths of the backend are case-sensitive. If not, a path that would match another route when case is ignored is rejected.',
    ),
    methodOverride: choice(['drop', 'pass'], {
      default: 'drop',
      description:
        'Whether X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override reach the upstream, which may then perform another method than the route accepted.',
    }),
    trailers: choice(['drop', 'pass'], {
      default: 'drop',
      description:
        'Whether trailer fields of requests are dropped or forwarded. A backend that does not read trailers may take them for another request, so use pass only for backends that do; such requests get a separate connection. Trailer fields of responses are forwarded in both cases. A message with a Content-Length keeps its trailer fields only from HTTP/2 to HTTP/2, as HTTP/1.1 allows none there.',
    }),
    forwardCredentials: flag(false, 'Whether SecretKey and Authorization reach the upstream.'),
    rateLimit: optional(
      item('Rate limit, counted across instances; absent = unlimited.', {
        ...rate({ min: '100ms', max: '24h' }),
        by: choice(['account', 'key', 'ip'], {
          default: 'account',
          description:
            'What is counted: requests of each account, of each secret key of an account, or of each client address; where there is no account, of each client address.',
        }),
      }),
    ),
    costHeader: optional(
      headerName({
        description:
          'Response field that says how many units a request used, a whole number up to 1000000000: it is counted as usage, and removed. Absent, or without such a field, a request is one unit.',
      }),
    ),
    costField: optional(costField),
    quotaCounts: choice(['requests', 'units'], {
      default: 'requests',
      description:
        'What a request takes of the quotas of its key and plan: one, or the units that costHeader or costField says. These are known once the response is: a request is admitted while anything is left, and what it costs beyond that is owed.',
    }),
    includeUsage: flag(
      false,
      'Whether POST requests with a JSON body for a stream ask for its usage in the form of OpenAI: "stream": true gets "stream_options": {"include_usage": true}, so that costField finds it. Their bodies are held until they are complete, up to 10 MiB each; nothing else in them changes.',
    ),
    maxBody: renamed(
      'bodyBytesMax',
      size({
        min: '0B',
        max: '1024GiB',
        alternative: 'unlimited',
        default: '10MiB',
        description: 'Largest request body, or unlimited.',
      }),
    ),
    timeouts: optional(
      item('Overrides of the timeouts of the upstream.', {
        response: optional(
          duration({
            min: '10ms',
            max: '24h',
            description:
              'From the end of the request, or from its head while the client waits for a 100, to the head of the response.',
          }),
        ),
        idle: optional(
          duration({
            min: '10ms',
            max: '24h',
            description: 'Maximum idle time within a body, as between the events of a stream.',
          }),
        ),
      }),
    ),
    browser: section('For requests in which browsers cannot set a header.', {
      cookie: flag(
        false,
        'Whether the access cookie authenticates too, for requests of the same site without another credential: WebSocket, EventSource, images, downloads, page visits.',
      ),
      signIn: flag(
        false,
        'Whether a page visit without a credential is sent to the sign-in of the portal, and back to the page.',
      ),
    }),
  }),
  ({ timeouts, stripPrefix, rewrite = stripPrefix ? '/' : undefined, ...options }) => ({
    ...options,
    rewrite: rewrite?.replace(/\/$/, ''),
    responseTimeoutMs: timeouts?.responseMs,
    idleTimeoutMs: timeouts?.idleMs,
  }),
)
