/** The protocol of health checks of gRPC: github.com/grpc/grpc/blob/master/doc/health-checking.md. */

export const grpcHealthPath = '/grpc.health.v1.Health/Check'

/** The values of HealthCheckResponse.ServingStatus. */
const statusNames = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN']
const serving = 1
/** Of a message: a flag (1 = compressed), and its length in four bytes. */
const prefixBytes = 5

/** A HealthCheckRequest as one message of gRPC. @param service '' = the server as a whole */
export function grpcHealthRequest(service: string): Buffer {
  const name = Buffer.from(service)
  // Field 1, a string; an empty one is left out.
  const message = service === '' ? name : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name])
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** Why the answer does not say that the service is served; undefined = it does. @param fields the trailers, or the head */
export function grpcHealthFailure(fields: readonly string[], body: Buffer): string | undefined {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'grpc-status')
  if (at === -1) return 'the answer has no grpc-status'
  if (fields[at + 1] !== '0') return `grpc-status ${fields[at + 1]}`
  const status = readStatus(body)
  if (status === serving) return undefined
  return status === undefined
    ? 'the answer is no HealthCheckResponse'
    : (statusNames[status] ?? `status ${status}`)
}

/** The field `status` of a HealthCheckResponse; undefined where it is not one. */
function readStatus(body: Buffer): number | undefined {
  if (body.length < prefixBytes || body[0] !== 0) return undefined
  const message = body.subarray(prefixBytes)
  if (message.length !== body.readUInt32BE(1)) return undefined
  // Left out where it is 0.
  if (message.length === 0) return 0
  // Field 1, a varint: all that the message has.
  const [tag, status, ...rest] = message
  return tag === 0x08 && status !== undefined && status < 0x80 && rest.length === 0 ? status : undefined
}

/** As Protocol Buffers write numbers: seven bits a byte, the lowest first. */
function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
