/** Why a request target could be read in two ways, as the client is told: each is one of a closed set. */
export const pathFaults = {
  noPath: 'The target is neither a path nor an http or https URL with a host.',
  fragment: 'The target has a fragment: write # as %23 where it belongs to the path.',
  control: 'The target has a space or a control character: write a space as %20, and leave out the others.',
  backslash: 'The path has a backslash: write / between segments.',
  brokenEscape: 'A % in the path is not followed by two hexadecimal digits: write % itself as %25.',
  dotSegment: 'The path has a dot segment (. or ..), plain or encoded: send the path that it resolves to.',
  emptySegment: 'The path has two slashes in a row: did the base URL end with a slash?',
  parametersOnly: 'A path segment consists of parameters (;) only.',
  encodedSlash: 'The path has an encoded slash or backslash (%2F, %5C), which is not accepted here.',
} as const

export type PathFault = keyof typeof pathFaults

/** The detail for a path that a backend may read as one of another route. */
export function otherRouteDetail(path: string): string {
  const causes = [
    ...(path.includes('//') ? ['slashes in a row are merged'] : []),
    ...(path.includes('%') ? ['escapes (%) are decoded'] : []),
    ...(/;|%3B/.test(path) ? ['parameters (;) are removed'] : []),
    ...(/[A-Z]/.test(path.replaceAll(/%[0-9A-F]{2}/g, '')) ? ['case is ignored'] : []),
  ]
  // A prefix that is not in lower case itself differs in case from any path that is.
  const once = causes.length === 0 ? 'case is ignored' : causes.join(' or ')
  return `The path would match another route once ${once}: write it as that route does.`
}
