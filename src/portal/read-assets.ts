import { hash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { memoize } from '#platform/memoize.ts'
import { readProgramFile } from '#platform/package.ts'
import { assetFiles } from '#platform/pages/asset-files.ts'
import type { PortalRequest } from './portal-request.ts'
import type { PortalResponse } from './portal-response.ts'

/** Style and script of all pages. Their names contain a digest, so that browsers may cache them indefinitely. */
export interface PortalAssets {
  /** URL paths. */
  readonly style: string
  readonly script: string
  /** Finds an asset by its path; undefined if there is none, or not any more. */
  find(path: string): PortalAsset | undefined
}

interface PortalAsset {
  readonly type: string
  /** The bytes to send, and their content coding if there is one. @param accepted Accept-Encoding */
  encode(accepted: string): { readonly bytes: Buffer; readonly coding: 'br' | 'gzip' | undefined }
}

/** Higher qualities block the event loop far longer for little gain. */
const brotliQuality = 6

const folders = ['../platform/pages/assets/', './assets/'].map((path) => new URL(path, import.meta.url))

/** Reads the shared assets and the portal's own: files of one kind are concatenated, sorted by name. */
export function readAssets(base: string): PortalAssets {
  const style = createAsset(concatAssets('.css'), 'text/css; charset=utf-8')
  const script = createAsset(concatAssets('.js'), 'text/javascript; charset=utf-8')
  const stylePath = `${base}/assets/${style.digest}.css`
  const scriptPath = `${base}/assets/${script.digest}.js`
  const assets = new Map([
    [stylePath, style.asset],
    [scriptPath, script.asset],
  ])
  return { style: stylePath, script: scriptPath, find: (path) => assets.get(path) }
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
  return {
    kind: 'content',
    status: 200,
    headers: {
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(coding && { 'Content-Encoding': coding }),
    },
    body: bytes,
  }
}

function concatAssets(ending: string): Buffer {
  return Buffer.concat(assetFiles(folders, ending).map((file) => readProgramFile(file)))
}

function createAsset(bytes: Buffer, type: string): { readonly digest: string; readonly asset: PortalAsset } {
  // Compressed on first use, so as not to slow down the start.
  const compress = memoize((coding: 'br' | 'gzip') =>
    coding === 'br'
      ? brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } })
      : gzipSync(bytes),
  )
  const asset: PortalAsset = {
    type,
    encode: (accepted) => {
      if (/\bbr\b/.test(accepted)) return { bytes: compress('br'), coding: 'br' }
      if (/\bgzip\b/.test(accepted)) return { bytes: compress('gzip'), coding: 'gzip' }
      return { bytes, coding: undefined }
    },
  }
  return { digest: hash('sha256', bytes, 'base64url').slice(0, 16), asset }
}
