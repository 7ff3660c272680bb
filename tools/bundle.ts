import { posix, resolve, sep } from 'node:path'
import { type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { compiledSchema } from './compiled-schema.ts'

export interface BundleOptions {
  /** The source of each entry, by its path in dist/ without the extension. */
  readonly input: Readonly<Record<string, string>>
  /** The folder in dist/ for what entries share, or load later. */
  readonly chunks: string
  /** What stays an import. */
  readonly external: readonly (string | RegExp)[]
}

/**
 * Bundles modules into few files in dist/: most of a start would be finding, reading and linking them one by one. What
 * is imported dynamically stays in files of its own.
 * @returns the paths of the modules that are in them
 * @throws where a module is missing, or anything else is doubtful
 */
export async function bundle({ input, chunks, external }: BundleOptions): Promise<readonly string[]> {
  const bundled = await load(input, external)
  const { output } = await bundled.write({ ...outputOptions, chunkFileNames: `${chunks}/[name].js` })
  await bundled.close()
  return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
}

/** What `debug` colours its lines with where somebody has installed it. */
export const programExternal: BundleOptions['external'] = ['supports-color']

/** The folders below src/ with files that the program reads, which are no modules. */
export const assetFolders: readonly string[] = [
  'store/redis/scripts',
  'platform/pages/assets',
  'portal/assets',
  'ops/status/assets',
]

/** Bundles a program into one file, with what it imports dynamically. */
export async function bundleBinary(input: string, file: string): Promise<void> {
  const bundled = await load(input, programExternal)
  const { dir: _dir, entryFileNames: _names, ...options } = outputOptions
  await bundled.write({ ...options, file, codeSplitting: false })
  await bundled.close()
}

function load(input: string | BundleOptions['input'], external: BundleOptions['external']) {
  return rolldown({
    input,
    external: [...external],
    platform: 'node',
    // Nothing doubtful: a machine that is busy makes a build slow.
    checks: { bundlerTimings: false },
    plugins: [compiledSchema, sourcePlaces, withoutUnused, narrowTexts],
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message)
    },
  })
}

/**
 * Not minified: stacks show the names of the sources, and comments in the files tell which module follows. Minified, a
 * start would take 7 % less.
 */
const outputOptions: OutputOptions = {
  dir: 'dist',
  format: 'esm',
  entryFileNames: '[name].js',
  // Also where two modules use the same name: some packages tell errors by the names of their classes.
  keepNames: true,
  // Node decodes a file to two bytes for each character if one of them is not ASCII.
  charset: 'ascii',
  comments: { legal: true, annotation: false, jsdoc: false },
}

const sources = resolve('src') + sep
const placePattern = /\bplaceOfSource\("([^"]+)"\)/g

/**
 * Lets modules find the files beside them (assets, scripts), which are in dist/ where they are in src/, although the
 * modules themselves end up elsewhere.
 */
const sourcePlaces: Plugin = {
  name: 'source-places',
  transform(code, id) {
    if (!id.startsWith(sources) || !code.includes('import.meta.url')) return undefined
    const place = id.slice(sources.length).replaceAll(sep, '/').replace(/\.ts$/, '.js')
    return { code: code.replaceAll('import.meta.url', `placeOfSource(${JSON.stringify(place)})`) }
  },
  renderChunk: (code, { fileName }) => ({
    code: code.replace(placePattern, (_call, place: string) => urlFrom(fileName, place)),
  }),
}

/** What packages load for what the gateway never does with them, by the file that loads it: 2 MiB of memory. */
const unused: Readonly<Record<string, readonly string[]>> = {
  'fastify/fastify.js': ["require('light-my-request')"],
  'fastify/lib/schema-controller.js': [
    "require('@fastify/ajv-compiler')",
    "require('@fastify/fast-json-stringify-compiler')",
  ],
  'fastify/lib/server.js': ["require('node:http2')"],
  'prom-client/lib/pushgateway.js': ["require('zlib')"],
}

const withoutUnused: Plugin = {
  name: 'without-unused',
  transform(code, id) {
    const file = Object.keys(unused).find((name) => id.endsWith(`/node_modules/${name}`))
    if (file === undefined) return undefined
    return {
      code: (unused[file] ?? []).reduce((rest, load) => {
        if (!rest.includes(load)) throw new Error(`${file} has no ${load} any more`)
        return rest.replace(load, '{}')
      }, code),
    }
  },
}

/**
 * Escapes what `charset` leaves: characters in comments, and in templates with a tag, which may read the text as it is
 * written. Those of our pages do not.
 */
const narrowTexts: Plugin = {
  name: 'narrow-texts',
  renderChunk: (code) => ({ code: code.replaceAll(/[^\0-\x7f]/g, escapeUnit) }),
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** The expression, in one file of dist/, for the URL of another. */
function urlFrom(fileName: string, place: string): string {
  const path = posix.relative(posix.dirname(fileName), place)
  return `new URL(${JSON.stringify(path)}, import.meta.url).href`
}
