import { foldHeaderName } from '#platform/text.ts'
import { grpcHealthFailure, grpcHealthPath, grpcHealthRequest } from './grpc-health.ts'
import type { ActiveCheckOptions } from './health.ts'
import type { ResponseHead } from './response-head.ts'
import type { UpstreamHeaders } from './upstream-headers.ts'

/** The state of the target, with the reason for the log if it is unhealthy; `unknown` = it could not be asked. */
export type CheckResult = 'healthy' | 'unknown' | { readonly failure: string }

/** What a health check asks, and what the answer means. */
export interface HealthProbe {
  readonly method: string
  readonly path: string
  /** All but Host, each ended by CR LF. */
  readonly headerLines: string
  readonly body: Buffer | undefined
  /** @returns undefined where the rest of the answer decides */
  readHead(head: ResponseHead): CheckResult | undefined
  readAnswer(head: ResponseHead, body: Buffer, trailers: readonly string[]): CheckResult
}

/** @param headers what the upstream gets; it is also in the checks */
export function createHealthProbe(
  options: ActiveCheckOptions,
  headers: UpstreamHeaders | undefined,
): HealthProbe {
  const linesOf = (lines: readonly string[]) => checkHeaderLines(lines, headers)
  return 'path' in options
    ? createGetProbe(options.path, linesOf)
    : createGrpcProbe(options.grpcService, options.timeoutMs, linesOf)
}

/** A GET: it succeeds with a 2xx or 3xx. */
function createGetProbe(path: string, linesOf: (lines: readonly string[]) => string): HealthProbe {
  const readHead = ({ status }: ResponseHead) => (status < 400 ? 'healthy' : { failure: `status ${status}` })
  return {
    method: 'GET',
    path,
    headerLines: linesOf(['User-Agent: gatehouse', 'Accept: */*']),
    body: undefined,
    readHead,
    readAnswer: readHead,
  }
}

/** A call of gRPC: it succeeds with SERVING. */
function createGrpcProbe(
  service: string,
  timeoutMs: number,
  linesOf: (lines: readonly string[]) => string,
): HealthProbe {
  const lines = ['Content-Type: application/grpc', `Grpc-Timeout: ${timeoutMs}m`, 'User-Agent: gatehouse']
  return {
    method: 'POST',
    path: grpcHealthPath,
    headerLines: linesOf(lines),
    body: grpcHealthRequest(service),
    readHead: ({ status }) => (status === 200 ? undefined : { failure: `status ${status}` }),
    readAnswer: ({ headers }, body, trailers) => {
      // An error without a message has its status in the head.
      const failure = grpcHealthFailure([...trailers, ...headers], body)
      return failure === undefined ? 'healthy' : { failure }
    },
  }
}

function checkHeaderLines(lines: readonly string[], headers: UpstreamHeaders | undefined): string {
  const kept = lines.filter(
    (line) => headers?.replacedNames.has(foldHeaderName(line.split(':', 1)[0] ?? '')) !== true,
  )
  return [...kept, 'Connection: close', headers?.lines ?? ''].join('\r\n')
}
