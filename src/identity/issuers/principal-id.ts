/**
 * The ID of a principal of an issuer: `<name of the issuer>:<subject>`. No account ID has a colon, and no name of an
 * issuer either, so that no two principals have one ID. What is not plain visible ASCII in the subject, and `%`, is
 * percent-encoded as UTF-8 (RFC 3986 2.1): the ID can stand in a header, a key or a line as it is.
 */
export function principalId(issuer: string, subject: string): string {
  return `${issuer}:${subject.replaceAll(/[^!-$&-~]+/g, encodeURIComponent)}`
}

/** The name of the issuer and the subject of such an ID. */
export function partsOfPrincipalId(id: string): { readonly issuer: string; readonly subject: string } {
  const colon = id.indexOf(':')
  return { issuer: id.slice(0, colon), subject: decodeURIComponent(id.slice(colon + 1)) }
}
