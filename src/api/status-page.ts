import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Status } from '#ops/status/status.ts'
import { assetFiles, readProgramFile } from '#platform/package.ts'

const sharedStyles = new URL('../platform/pages/assets/', import.meta.url)
const assets = new URL('../ops/status/assets/', import.meta.url)

/** `/status`: a page for people, and the same as JSON for programs with `?json`. */
export function registerStatus(app: FastifyInstance, readStatus: () => Promise<Status>): void {
  // Loaded on first use: in most processes nobody opens the page.
  let pages: ReturnType<typeof loadStatusPage> | undefined

  app.get('/status', async (request, reply) => {
    const status = await readStatus()
    reply.headers({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' })
    if (Object.hasOwn(request.query as object, 'json')) return status
    pages ??= loadStatusPage()
    const { render, policy } = await pages
    return reply
      .headers({
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': policy,
        'Referrer-Policy': 'no-referrer',
        'X-Frame-Options': 'DENY',
      })
      .send(render(status))
  })
}

async function loadStatusPage() {
  const { statusPage } = await import('#ops/status/status-page.ts')
  // Shared styles come first.
  const styles = [...assetFiles([sharedStyles], '.css'), new URL('status.css', assets)]
  const style = styles.map(readText).join('\n')
  const script = readText(new URL('status.js', assets))
  return {
    policy: policyOf(style, script),
    render: (status: Status) => statusPage(status, { style, script }).text,
  }
}

function readText(file: URL): string {
  return readProgramFile(file).toString()
}

/** Allows only this style and this script, and data only from this origin. */
function policyOf(style: string, script: string): string {
  const digestOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  return [
    "default-src 'none'",
    `style-src ${digestOf(style)}`,
    `script-src ${digestOf(script)}`,
    "connect-src 'self'",
    'img-src data:',
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
