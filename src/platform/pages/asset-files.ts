import { programFilesIn } from '../package.ts'

/** The files of one kind in some folders, sorted by file name across folders. */
export function assetFiles(folders: readonly URL[], ending: string): readonly URL[] {
  const files = folders.flatMap((folder) =>
    programFilesIn(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => ({ name, url: new URL(name, folder) })),
  )
  return files.toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(({ url }) => url)
}
