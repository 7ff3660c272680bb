import { hash } from 'node:crypto'
import type { OwnEndpoint } from '../own-route.ts'
import { createDocument, type DocumentOptions } from './document.ts'

/** How long caches may keep the document: it changes only with the version. */
const maxAgeS = 300

/** The OpenAPI document of the built-in endpoints. */
export function openApiEndpoint(options: DocumentOptions): OwnEndpoint {
  const body = JSON.stringify(createDocument(options))
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
  return {
    handler: async (request, reply) => {
      reply.headers({ 'Cache-Control': `public, max-age=${maxAgeS}`, ETag: etag })
      if (matchesEtag(request.headers['if-none-match'], etag)) {
        reply.code(304)
        return undefined
      }
      reply.type('application/json; charset=utf-8')
      return body
    },
  }
}

/** Whether If-None-Match names this ETag (RFC 9110 13.1.2). */
function matchesEtag(condition: string | undefined, etag: string): boolean {
  if (condition === undefined) return false
  return condition.split(',').some((one) => ['*', etag, `W/${etag}`].includes(one.trim()))
}
