import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { startServer } from '../../setup/backend.ts'

/** A package as a registry keeps it: versions with their manifests, and the files. */
interface Package {
  readonly name: string
  readonly versions: Record<string, Record<string, unknown>>
  readonly 'dist-tags': Record<string, string>
  readonly files: Map<string, Buffer>
}

/** What npm sends to publish. */
interface Publication {
  readonly name: string
  readonly versions: Record<string, { readonly dist: Record<string, unknown> }>
  readonly 'dist-tags': Record<string, string>
  readonly _attachments: Record<string, { readonly data: string }>
}

export interface Registry {
  readonly url: string
  /** Method, target as it came, and who the gateway said it was. */
  readonly asked: { readonly method: string; readonly target: string; readonly user: string | undefined }[]
}

/** A registry as npm needs one to publish and to install; it knows nothing of tokens. */
export async function startRegistry(t: Test): Promise<Registry> {
  const packages = new Map<string, Package>()
  const asked: Registry['asked'] = []
  const url = await startServer(t, async (request, response) => {
    const { method = '', url: target = '' } = request
    asked.push({ method, target, user: request.headers['x-user-id']?.toString() })
    if (method === 'PUT') return publish(packages, request, response)
    // A scoped name is one segment: its slash comes encoded (npm writes %2f).
    const [, name = '', file] = /^\/([^/]+)(?:\/-\/(.+))?$/.exec(target.split('?')[0] ?? '') ?? []
    const found = packages.get(decodeURIComponent(name))
    if (!found) return sendJson(response, 404, { error: 'not found' })
    const data = file && found.files.get(decodeURIComponent(file))
    if (data) response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(data)
    else sendJson(response, file ? 404 : 200, documentOf(found, request.headers.host ?? ''))
  })
  return { url, asked }
}

async function publish(
  packages: Map<string, Package>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const sent = JSON.parse(Buffer.concat(chunks).toString()) as Publication
  if (decodeURIComponent(request.url ?? '') !== `/${sent.name}`) {
    return sendJson(response, 400, { error: `published to ${request.url}` })
  }
  const files = Object.entries(sent._attachments).map(
    ([name, { data }]) => [name, Buffer.from(data, 'base64')] as const,
  )
  packages.set(sent.name, { ...sent, files: new Map(files) })
  sendJson(response, 201, { ok: true })
}

/** The document of a package; where its files are depends on how the registry was called. */
function documentOf({ name, versions, 'dist-tags': tags, files }: Package, host: string): object {
  const [[file = '', data = Buffer.alloc(0)] = []] = [...files]
  const tarball = `http://${host}/${encodeURIComponent(name)}/-/${encodeURIComponent(file)}`
  const integrity = `sha512-${createHash('sha512').update(data).digest('base64')}`
  const withFiles = Object.entries(versions).map(([version, manifest]) => [
    version,
    { ...manifest, dist: { tarball, integrity } },
  ])
  return { name, 'dist-tags': tags, versions: Object.fromEntries(withFiles) }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
