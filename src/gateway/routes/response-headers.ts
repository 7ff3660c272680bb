import { withoutFields } from '#http/request-head.ts'

/** What the client gets instead of fields of the backend's response. Plain data, as it is a part of the config. */
export interface ResponseHeaders {
  /** The fields that are set: name, value, name, value. */
  readonly set: readonly string[]
  /** Names of the fields that are set or removed, in lower case: those of the backend are dropped. */
  readonly replacedNames: ReadonlySet<string>
}

/** @returns undefined where nothing is set or removed */
export function createResponseHeaders(
  set: Readonly<Record<string, string>>,
  removedNames: readonly string[],
): ResponseHeaders | undefined {
  const names = [...Object.keys(set), ...removedNames]
  if (names.length === 0) return undefined
  return { set: Object.entries(set).flat(), replacedNames: new Set(names.map((name) => name.toLowerCase())) }
}

/** The fields of a backend less those that are set or removed. */
export function withoutReplaced(
  headers: readonly string[],
  rules: ResponseHeaders | undefined,
): readonly string[] {
  if (rules === undefined) return headers
  return withoutFields(headers, (name) => rules.replacedNames.has(name))
}
