import { readProgramFile } from './program-files.ts'

/** The version of the package, whose file is one folder above both the sources and the build. */
export function readVersion(): string {
  const text = readProgramFile(new URL('../../package.json', import.meta.url)).toString()
  const { version } = JSON.parse(text) as { readonly version: string }
  return version
}
