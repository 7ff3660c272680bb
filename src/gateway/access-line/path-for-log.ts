import { hideSecrets, secretStartPattern } from '#platform/secrets/hide-secrets.ts'

/** Matches paths that may need redaction for the log: most do not. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)

/**
 * The path without query, fragment and userinfo, which may contain anything. A key or token that is in the path by
 * mistake is redacted.
 */
export function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayNeedRedaction.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
