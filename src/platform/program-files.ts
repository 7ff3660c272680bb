import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { getAssetKeys, getRawAsset, isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'

/**
 * The files that come with the program. They lie beside its sources and its build, at the same places; the binary has
 * them within itself, under their paths relative to where it is (tools/build-binary.ts).
 */

/** Whether the program is one file, with Node in it. */
export const isBinary = isSea()

/** @param url made of the URL of a module: `new URL('assets/a.css', import.meta.url)` */
export function readProgramFile(url: URL): Buffer {
  return isBinary ? Buffer.from(getRawAsset(keyOf(url))) : readFileSync(url)
}

export function hasProgramFile(url: URL): boolean {
  return isBinary ? getAssetKeys().includes(keyOf(url)) : existsSync(url)
}

/** The names of the files in a folder. @param folder ends with a slash */
export function programFilesIn(folder: URL): readonly string[] {
  if (!isBinary) return readdirSync(folder)
  const prefix = `${keyOf(folder)}/`
  return getAssetKeys()
    .filter((key) => key.startsWith(prefix) && !key.includes('/', prefix.length))
    .map((key) => key.slice(prefix.length))
}

function keyOf(url: URL): string {
  return relative(dirname(process.execPath), fileURLToPath(url)).replaceAll('\\', '/')
}
