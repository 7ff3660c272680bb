import { copyString } from '../platform/copy-string.ts'
import type { ResponseCaching } from '../routes/route.ts'
import type { RepeatedResponse } from '../upstream/response-head.ts'
import { isScript } from './content-type.ts'

/** The header lines of a response, up to the ID of its request. */
export interface HeaderLines {
  /** With the name of the field of the ID at their end, where the response has it. */
  readonly lines: string
  readonly hasDate: boolean
}

/** What they depend on, if no field is about the request. */
export interface HeaderLinesInput {
  /** Name, value, name, value, as they arrived. */
  readonly headers: readonly string[]
  /** Where their lines are kept; undefined = they are not known to be those of an earlier response. */
  readonly repeated: RepeatedResponse | undefined
  /** Whether trailers can follow: they need chunks on both sides. */
  readonly mayHaveTrailers: boolean
  /** What caches are told; undefined = only what the backend says. */
  readonly caching: ResponseCaching | undefined
  /** Whether the caller was authenticated. */
  readonly isAuthenticated: boolean
}

interface KeptLines extends Pick<HeaderLinesInput, 'mayHaveTrailers' | 'caching' | 'isAuthenticated'> {
  /** undefined = they depend on the request, and are not kept. */
  readonly header: HeaderLines | undefined
}

/** What is kept with a head that repeats, if its lines were last written for the same. */
export function findKept(
  { derived }: RepeatedResponse,
  mayHaveTrailers: boolean,
  caching: ResponseCaching | undefined,
  isAuthenticated: boolean,
): KeptLines | undefined {
  // The cast is sound: nothing else writes it.
  const kept = derived as KeptLines | undefined
  return kept?.mayHaveTrailers === mayHaveTrailers &&
    kept.caching === caching &&
    kept.isAuthenticated === isAuthenticated
    ? kept
    : undefined
}

/** Writes the lines of a head that repeats only once. */
export function keepLines<Input extends HeaderLinesInput>(
  input: Input,
  write: (input: Input) => HeaderLines,
): HeaderLines {
  const { repeated, mayHaveTrailers, caching, isAuthenticated } = input
  if (!repeated) return write(input)
  const kept = findKept(repeated, mayHaveTrailers, caching, isAuthenticated)
  if (kept) return kept.header ?? write(input)
  const { lines, hasDate } = write(input)
  const header = isAboutRequest(input.headers) ? undefined : { lines: copyString(lines), hasDate }
  repeated.derived = { header, mayHaveTrailers, caching, isAuthenticated } satisfies KeptLines
  return header ?? { lines, hasDate }
}

/** Fields that are rewritten, or withheld, by what was requested and where. */
const aboutRequest = new Set(['location', 'content-location', 'set-cookie', 'service-worker-allowed'])

function isAboutRequest(headers: readonly string[]): boolean {
  return (
    isScript(headers) ||
    headers.some((name, index) => index % 2 === 0 && aboutRequest.has(name.toLowerCase()))
  )
}
