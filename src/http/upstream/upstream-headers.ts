import { foldHeaderName } from '#platform/text.ts'

/** A field that every request to an upstream gets. */
interface SetHeader {
  readonly name: string
  /** Visible ASCII, with spaces and tabs only inside; at most 8 KiB. */
  readonly value: string
  /** Whether the value is never shown. */
  readonly isSecret: boolean
}

/**
 * The fields that replace those of the client's request. Names are folded (foldHeaderName). Plain data: two configs
 * with the same fields have deeply equal values.
 */
export interface UpstreamHeaders {
  /** The fields to set, as header lines. */
  readonly lines: string
  /** Names of the fields that are set or removed: the client's are dropped. */
  readonly replacedNames: ReadonlySet<string>
  readonly secretNames: ReadonlySet<string>
}

/** @returns undefined if nothing is set or removed */
export function createUpstreamHeaders(
  set: readonly SetHeader[],
  removedNames: readonly string[],
): UpstreamHeaders | undefined {
  if (set.length === 0 && removedNames.length === 0) return undefined
  const secrets = set.filter(({ isSecret }) => isSecret)
  return {
    lines: set.map(({ name, value }) => `${name}: ${value}\r\n`).join(''),
    replacedNames: new Set([...set.map(({ name }) => name), ...removedNames].map(foldHeaderName)),
    secretNames: new Set(secrets.map(({ name }) => foldHeaderName(name))),
  }
}
