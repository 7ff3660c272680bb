import { readFileSync } from 'node:fs'

/** A block of code of a page. */
export interface Snippet {
  readonly page: string
  /** The heading that it is under. */
  readonly heading: string
  readonly language: string
  readonly text: string
}

/** The blocks of code of a page, in order. */
export function snippetsOf(page: string): readonly Snippet[] {
  const text = readFileSync(page, 'utf8')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)]
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(({ index, 1: language = '', 2: code = '' }) => ({
    page,
    heading: headings.findLast((heading) => heading.index < index)?.[1] ?? '',
    language,
    text: code,
  }))
}
