import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Prefixes that are stripped in vain, or from backends whose answers name paths. */
export function findPrefixProblems({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { stripPrefix }]) => stripPrefix)
    .flatMap(([index, { name, path, methods }]): Warning[] => {
      const at = ['routes', index, 'stripPrefix']
      if (path === '/')
        return [{ path: at, message: `route "${name}" has no prefix to strip`, hint: 'leave it out' }]
      if (methods?.includes('PROPFIND') !== true) return []
      const message = `WebDAV listings on route "${name}" have paths without ${path}, and clients do not find them`
      return [{ path: at, message, hint: `let the backend serve ${path} itself` }]
    })
}

/** Paths that look like a pattern, by characters that are allowed in a path. */
export function findPatterns({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  return [...routes.entries()]
    .filter(([, { path }]) => /[()$+]/.test(path))
    .map(([index, { name, path }]) => ({
      path: ['routes', index, 'path'],
      message: `route "${name}" matches only requests that begin with ${path}: paths are literal prefixes, and ( ) $ + stand for themselves`,
    }))
}
