import { foldHeaderName } from '#platform/text.ts'
import type { ResponseHead } from '../outgoing/response-head.ts'
import type { ActiveCheckOptions } from './health.ts'
import type { UpstreamHeaders } from './upstream-config.ts'

/** The state of the target, with the reason for the log if it is unhealthy; `unknown` = it could not be asked. */
export type CheckResult = 'healthy' | 'unknown' | { readonly failure: string }

/** What a health check requests, and what the answer means. */
export interface HealthProbe {
  readonly method: string
  readonly path: string
  /** All field lines but Host. */
  readonly headerLines: string
  readonly body: Buffer | undefined
  /** @returns undefined if the rest of the answer decides */
  readHead(head: ResponseHead): CheckResult | undefined
  readAnswer(head: ResponseHead, body: Buffer, trailers: readonly string[]): CheckResult
}

/** @param headers the upstream's configured headers, which checks have too */
export function createHealthProbe(
  options: ActiveCheckOptions,
  headers: UpstreamHeaders | undefined,
): HealthProbe {
  return 'path' in options
    ? createGetProbe(options.path, headers)
    : createGrpcProbe(options.grpcService, options.timeoutMs, headers)
}

/** A GET: it succeeds with a 2xx or 3xx. */
function createGetProbe(path: string, headers: UpstreamHeaders | undefined): HealthProbe {
  const readHead = ({ status }: ResponseHead) => (status < 400 ? 'healthy' : { failure: `status ${status}` })
  return {
    method: 'GET',
    path,
    headerLines: linesOf(['User-Agent: gatehouse', 'Accept: */*'], headers),
    body: undefined,
    readHead,
    readAnswer: readHead,
  }
}

/** A gRPC call: it succeeds with SERVING. */
function createGrpcProbe(
  service: string,
  timeoutMs: number,
  headers: UpstreamHeaders | undefined,
): HealthProbe {
  const lines = ['Content-Type: application/grpc', `Grpc-Timeout: ${timeoutMs}m`, 'User-Agent: gatehouse']
  return {
    method: 'POST',
    path: grpcHealthPath,
    headerLines: linesOf(lines, headers),
    body: grpcHealthRequest(service),
    readHead: ({ status }) => (status === 200 ? undefined : { failure: `status ${status}` }),
    readAnswer: ({ headers }, body, trailers) => {
      // A call that fails without a message may have its status in the head (Trailers-Only).
      const failure = grpcHealthFailure([...trailers, ...headers], body)
      return failure === undefined ? 'healthy' : { failure }
    },
  }
}

function linesOf(lines: readonly string[], headers: UpstreamHeaders | undefined): string {
  const kept = lines.filter(
    (line) => headers?.replacedNames.has(foldHeaderName(line.split(':', 1)[0] ?? '')) !== true,
  )
  return [...kept, 'Connection: close', headers?.lines ?? ''].join('\r\n')
}

/** The gRPC health checking protocol: github.com/grpc/grpc/blob/master/doc/health-checking.md. */
const grpcHealthPath = '/grpc.health.v1.Health/Check'

/** The values of HealthCheckResponse.ServingStatus. */
const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']
const serving = 1
/** The prefix of a message: a flag (1 = compressed), and its length in four bytes. */
const prefixBytes = 5

/** A HealthCheckRequest as one gRPC message. @param service '' = the server as a whole */
function grpcHealthRequest(service: string): Buffer {
  const name = Buffer.from(service)
  // Field 1, a string; omitted if it is empty.
  const message = service === '' ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name])
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/**
 * Why the answer does not say that the service is serving; undefined = it does.
 * @param fields the trailers, and the fields of the head
 */
function grpcHealthFailure(fields: readonly string[], body: Buffer): string | undefined {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'grpc-status')
  if (at === -1) return 'the response has no grpc-status'
  if (fields[at + 1] !== '0') return `grpc-status ${fields[at + 1]}`
  const status = readStatus(body)
  if (status === serving) return undefined
  return status === undefined
    ? 'the response is not a HealthCheckResponse'
    : (statusNames[status] ?? `status ${status}`)
}

/** The field `status` of a HealthCheckResponse; undefined if it is not one. */
function readStatus(body: Buffer): number | undefined {
  if (body.length < prefixBytes || body[0] !== 0) return undefined
  const message = body.subarray(prefixBytes)
  if (message.length !== body.readUInt32BE(1)) return undefined
  // The field is omitted if it is 0.
  if (message.length === 0) return 0
  // Field 1, a varint, is all that the message has.
  const [tag, status, ...rest] = message
  return tag === 0x08 && status !== undefined && status < 0x80 && rest.length === 0 ? status : undefined
}

/** The encoding of Protocol Buffers: seven bits a byte, the lowest first. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
