/**
 * A URL that an option names. `localhost:8080` is one too, but of the scheme `localhost:`, at which nothing is found.
 * @throws TypeError that names the option
 */
export function toHttpUrl(value: string | URL, option: string): URL {
  // Not URL.parse, which browsers have had since 2024 only.
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new TypeError(`${option} must be a URL that begins with http:// or https://`)
}
