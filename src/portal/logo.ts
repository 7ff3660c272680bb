/** The largest logo: every visitor fetches it once. */
export const logoBytesMax = 256 * 1_024

/** Kinds of image that every browser shows, by how their files begin. */
const kinds = [
  { type: 'image/png', ending: 'png', begins: (bytes) => startsWith(bytes, '89504e470d0a1a0a') },
  { type: 'image/jpeg', ending: 'jpg', begins: (bytes) => startsWith(bytes, 'ffd8ff') },
  {
    type: 'image/webp',
    ending: 'webp',
    begins: (bytes) =>
      bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP',
  },
  { type: 'image/svg+xml', ending: 'svg', begins: isSvg },
] as const satisfies readonly ImageKind[]

interface ImageKind {
  readonly type: string
  /** Extension of its file name. */
  readonly ending: string
  readonly begins: (bytes: Buffer) => boolean
}

/** What kind of image a file is, whatever its name says; undefined = none that is shown. */
export function imageKindOf(bytes: Buffer): ImageKind | undefined {
  return kinds.find(({ begins }) => begins(bytes))
}

function startsWith(bytes: Buffer, hex: string): boolean {
  return bytes.toString('hex', 0, hex.length / 2) === hex
}

/** Whether the root element is `svg`: only a declaration, comments and a document type may come before it. */
function isSvg(bytes: Buffer): boolean {
  let text = bytes
    .toString('utf8', 0, 4_096)
    .replace(/^\uFEFF/, '')
    .trimStart()
  for (let ending = endingOf(text); ending; ending = endingOf(text)) {
    const end = ending.exec(text)
    if (!end) return false
    text = text.slice(end.index + end[0].length).trimStart()
  }
  return /^<svg[\s>]/.test(text)
}

/** What ends the declaration, comment or document type that a text begins with; undefined if it begins with none. */
function endingOf(text: string): RegExp | undefined {
  if (text.startsWith('<?')) return /\?>/
  if (text.startsWith('<!--')) return /-->/
  if (!text.startsWith('<!DOCTYPE')) return undefined
  // It may have declarations of its own, in brackets.
  const [start = ''] = text.split('>', 1)
  return start.includes('[') ? /\]\s*>/ : />/
}
