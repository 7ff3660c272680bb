const browsers: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\/(\d+)/, 'Edge'],
  [/(?:OPR|Opera)\/(\d+)/, 'Opera'],
  [/SamsungBrowser\/(\d+)/, 'Samsung Internet'],
  [/(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/Version\/(\d{1,9})[\d.]{0,32} (?:Mobile\/\w{1,32} )?Safari/, 'Safari'],
]

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X|Macintosh/, 'macOS'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
]

/**
 * A User-Agent in readable form: `Firefox 140 on Windows`, `curl 8.7.1`. The client sets it itself, so it is a hint,
 * never a proof.
 */
export function clientName(userAgent: string): string {
  if (userAgent === '') return 'Unknown client'
  const [browser, version] =
    browsers.flatMap(([pattern, name]) => {
      const found = pattern.exec(userAgent)
      return found ? [[name, found[1]] as const] : []
    })[0] ?? []
  if (browser === undefined) return firstProduct(userAgent)
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  return system === undefined ? `${browser} ${version}` : `${browser} ${version} on ${system}`
}

/** The first product in a User-Agent (RFC 9110 10.1.5). */
function firstProduct(userAgent: string): string {
  const [product = ''] = userAgent.split(' ', 1)
  return product.replace('/', ' ')
}
