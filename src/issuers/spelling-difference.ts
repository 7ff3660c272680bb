/**
 * How `iss` of a token differs from the URL of an issuer that it probably means.
 * @returns undefined where they differ in more than case, a default port and slashes at the end
 */
export function spellingDifference(iss: string, configured: string): string | undefined {
  if (plainSpelling(iss) !== plainSpelling(configured)) return undefined
  if (withoutSlashes(iss) !== withoutSlashes(configured)) return 'iss is another spelling of its URL'
  return `iss ends with ${iss.length > configured.length ? 'more' : 'fewer'} slashes than in the config`
}

function plainSpelling(issuer: string): string {
  return withoutSlashes(URL.parse(issuer)?.href ?? issuer).toLowerCase()
}

function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
