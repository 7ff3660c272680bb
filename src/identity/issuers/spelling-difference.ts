/** No URL of an issuer is longer: anything else is not looked at any further. */
const issLengthMax = 2_048

/** One spelling for all URLs that differ only in case, a default port and slashes at the end. */
export function plainSpelling(issuer: string): string {
  if (issuer.length > issLengthMax) return issuer
  return withoutSlashes(URL.parse(issuer)?.href ?? issuer).toLowerCase()
}

/** How `iss` of a token differs from the URL of the issuer that it means. @param iss of the same plain spelling */
export function spellingDifference(iss: string, configured: string): string {
  if (withoutSlashes(iss) !== withoutSlashes(configured)) return 'iss is another spelling of its URL'
  return `iss ends with ${iss.length > configured.length ? 'more' : 'fewer'} slashes than in the config`
}

function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
