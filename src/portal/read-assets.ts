import { hash } from 'node:crypto'
import Negotiator from 'negotiator'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Language } from '#platform/languages.ts'
import { memoize } from '#platform/memoize.ts'
import { assetFiles, readProgramFile } from '#platform/package.ts'
import { accentStyle, type Branding, imageKindOf } from './branding.ts'
import type { PortalRequest } from './portal-request.ts'
import type { PortalResponse } from './portal-response.ts'
import { languages, translationOf } from './texts/texts.ts'

/**
 * Style and script of all pages, and the logo. Their names contain a digest, so that browsers may cache them
 * indefinitely.
 */
export interface PortalAssets {
  /** URL paths. */
  readonly style: string
  /** By language: each script begins with the texts of its language. */
  readonly scripts: Readonly<Record<Language, string>>
  /** undefined = there is none. */
  readonly logo: string | undefined
  /** Finds an asset by its path; undefined if there is none, or not any more. */
  find(path: string): PortalAsset | undefined
}

interface PortalAsset {
  readonly type: string
  /** Identifies the bytes. */
  readonly digest: string
  /** The bytes to send, and their content coding if there is one. @param accepted Accept-Encoding */
  encode(accepted: string): { readonly bytes: Buffer; readonly coding: 'br' | 'gzip' | undefined }
}

/** The better one first. */
const codings = ['br', 'gzip'] as const

/** Higher qualities block the event loop far longer for little gain. */
const brotliQuality = 6

const folders = ['../platform/pages/assets/', './assets/'].map((path) => new URL(path, import.meta.url))

/** Reads the shared assets and the portal's own: files of one kind are concatenated, sorted by name. */
export function readAssets(base: string, branding: Omit<Branding, 'name'>): PortalAssets {
  const assets = new Map<string, PortalAsset>()
  function add(bytes: Buffer, type: string, ending: string): string {
    const asset = createAsset(bytes, type)
    const path = `${base}/assets/${asset.digest}.${ending}`
    assets.set(path, asset)
    return path
  }
  function addScript(language: Language): string {
    const texts = `globalThis.gatehouseTexts = ${JSON.stringify(translationOf(language).texts.script)}\n`
    return add(Buffer.concat([Buffer.from(texts), script]), 'text/javascript; charset=utf-8', 'js')
  }
  const script = concatAssets('.js')
  const styles = Buffer.concat([concatAssets('.css'), Buffer.from(accentStyle(branding))])
  const kind = branding.logo && imageKindOf(branding.logo)
  return {
    style: add(styles, 'text/css; charset=utf-8', 'css'),
    // The cast is sound: there is one for each language.
    scripts: Object.fromEntries(languages.map(({ tag }) => [tag, addScript(tag)])) as PortalAssets['scripts'],
    logo: branding.logo && kind && add(branding.logo, kind.type, kind.ending),
    find: (path) => assets.get(path),
  }
}

export const assetMethods: readonly string[] = ['GET', 'HEAD']

/** The requested asset. @throws GatehouseError `route-not-found`, `method-not-allowed` */
export function requestedAsset(
  assets: Pick<PortalAssets, 'find'>,
  { url, method }: Pick<PortalRequest, 'url' | 'method'>,
): PortalAsset {
  const asset = assets.find(url)
  if (!asset) throw new GatehouseError('route-not-found')
  if (!assetMethods.includes(method)) throw new GatehouseError('method-not-allowed', { allow: assetMethods })
  return asset
}

/** @throws GatehouseError `route-not-found`, `method-not-allowed` */
export function answerAsset(assets: PortalAssets, request: PortalRequest): PortalResponse {
  const asset = requestedAsset(assets, request)
  const { bytes, coding } = asset.encode(String(request.headers['accept-encoding'] ?? ''))
  const etag = `"${asset.digest}${coding ? `-${coding}` : ''}"`
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: etag,
    Vary: 'Accept-Encoding',
  }
  if (request.headers['if-none-match'] === etag)
    return { kind: 'content', status: 304, headers, body: undefined }
  return {
    kind: 'content',
    status: 200,
    headers: {
      ...headers,
      'Content-Type': asset.type,
      ...(asset.type.startsWith('image/') && { 'Content-Security-Policy': imagePolicy }),
      ...(coding && { 'Content-Encoding': coding }),
    },
    body: bytes,
  }
}

/** An SVG that is opened by itself is a document: it may style itself, but runs no script and loads nothing. */
const imagePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

function concatAssets(ending: string): Buffer {
  return Buffer.concat(assetFiles(folders, ending).map((file) => readProgramFile(file)))
}

function createAsset(bytes: Buffer, type: string): PortalAsset {
  // Other images are compressed already.
  const isCompressible = !type.startsWith('image/') || type === 'image/svg+xml'
  // Compressed on first use, so as not to slow down the start. Only then zlib is loaded, which takes 0.6 MiB.
  const compress = memoize((coding: 'br' | 'gzip') => {
    const { brotliCompressSync, constants, gzipSync } = process.getBuiltinModule('node:zlib')
    return coding === 'br'
      ? brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } })
      : gzipSync(bytes)
  })
  return {
    type,
    digest: hash('sha256', bytes, 'base64url').slice(0, 16),
    encode: (accepted) => {
      if (!isCompressible) return { bytes, coding: undefined }
      const accepts = new Negotiator({ headers: { 'accept-encoding': accepted } }).encodings([...codings])
      const coding = codings.find((each) => accepts.includes(each))
      if (coding !== undefined) return { bytes: compress(coding), coding }
      return { bytes, coding: undefined }
    },
  }
}
