/**
 * Which service workers could reach a page. A browser lets the script of a service worker control every page whose path
 * begins with the folder of the script, or with what `Service-Worker-Allowed` names instead
 * (https://w3c.github.io/ServiceWorker/#service-worker-allowed).
 */
export interface WorkerScopes {
  /** Whether a service worker could reach the page. @param scriptPath decoded as routes are matched */
  isReachedFrom(scriptPath: string): boolean
  /** Whether a Service-Worker-Allowed could let a script reach the page; true where it cannot be read. */
  isReachedBy(allowed: string, scriptPath: string): boolean
}

/** @param page the path of the page, and of all pages below it, such as `/portal` */
export function createWorkerScopes(page: string): WorkerScopes {
  const below = `${page}/`
  // A scope is a prefix of characters, not of segments: `/po` reaches `/portal`.
  const isScopeOver = (scope: string) => page.startsWith(scope) || scope.startsWith(below)

  function isReachedBy(allowed: string, scriptPath: string): boolean {
    // The browser resolves it against the script's URL, and ignores it for another origin.
    const url = URL.parse(allowed.trim(), `http://gateway.invalid${scriptPath}`)
    if (!url) return true
    try {
      // Decoded, as pages are matched decoded.
      return isScopeOver(decodeURIComponent(url.pathname))
    } catch {
      return true
    }
  }

  return {
    isReachedFrom: (scriptPath) => {
      const folderLength = scriptPath.lastIndexOf('/') + 1
      if (folderLength > page.length) return scriptPath.startsWith(below)
      return page.startsWith(scriptPath.slice(0, folderLength))
    },
    isReachedBy,
  }
}
