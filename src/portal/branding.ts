/** `portal.branding` of the config. */
export interface Branding {
  readonly name: string
  /** The bytes of an image that `imageKindOf` knows; undefined = none. */
  readonly logo: Buffer | undefined
  /**
   * The colour of links and buttons, on light pages: every text keeps the contrast of WCAG 2.2 AA. undefined = the
   * portal's own.
   */
  readonly color: string | undefined
  /** The same on dark pages; undefined = `color`, made as light as it has to be, or the portal's own. */
  readonly darkColor: string | undefined
}

export type Theme = keyof typeof palettes

/** The backgrounds in 1-base.css; and `far`, with which a colour is mixed to gain contrast with them. */
const palettes = {
  light: { ground: '#f6f7f8', surface: '#ffffff', sunken: '#f1f3f4', far: '#000000' },
  dark: { ground: '#0d1114', surface: '#141a1e', sunken: '#0f1417', far: '#ffffff' },
} as const

/** Minimum contrast of text with its background (WCAG 2.2, 1.4.3). */
export const contrastMin = 4.5

/** The lowest contrast of text in a colour with the backgrounds of a theme: 1 to 21. @param color `#rrggbb` */
export function contrastOn(theme: Theme, color: string): number {
  const { ground, surface, sunken } = palettes[theme]
  return Math.min(...[ground, surface, sunken].map((behind) => contrastOf(color, behind)))
}

/** The colour itself if it has enough contrast; else the nearest mixture with black or white that has. */
export function readableOn(theme: Theme, color: string): string {
  return firstOf(100, (percent) => {
    const mixed = mix(color, palettes[theme].far, percent)
    return contrastOn(theme, mixed) >= contrastMin ? mixed : undefined
  })
}

/** The style to be added after that of the pages; empty where the colours are the portal's own. */
export function accentStyle({ color, darkColor }: Pick<Branding, 'color' | 'darkColor'>): string {
  const dark = darkColor ?? (color === undefined ? undefined : readableOn('dark', color))
  const rules = [
    ...(color === undefined ? [] : [properties('light', color)]),
    ...(dark === undefined ? [] : [`@media (prefers-color-scheme: dark) {\n${properties('dark', dark)}}\n`]),
  ]
  return rules.join('')
}

/** @param accent a colour that has enough contrast */
function properties(theme: Theme, accent: string): string {
  const { surface, far } = palettes[theme]
  // The background of the current entry in the navigation, whose text has the accent colour.
  const soft = firstOf(14, (less) => {
    const mixed = mix(surface, accent, 14 - less)
    return contrastOf(accent, mixed) >= contrastMin ? mixed : undefined
  })
  const on = theme === 'light' ? palettes.light.surface : palettes.dark.ground
  return `:root {
  --accent: ${accent};
  --accent-hover: ${mix(accent, far, 25)};
  --accent-soft: ${soft};
  --on-accent: ${on};
}
`
}

/** The first result found for 0, 1, 2 … percent. */
function firstOf(percentMax: number, find: (percent: number) => string | undefined): string {
  for (let percent = 0; percent <= percentMax; percent++) {
    const found = find(percent)
    if (found !== undefined) return found
  }
  throw new Error('black on white, and white on black, have enough contrast')
}

function mix(color: string, other: string, percent: number): string {
  const [from, to] = [channelsOf(color), channelsOf(other)]
  const mixed = from.map((value, index) => Math.round(value + (((to[index] ?? 0) - value) * percent) / 100))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

/** The ratio of two colours (WCAG 2.2, contrast ratio). */
export function contrastOf(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

/** WCAG 2.2, relative luminance. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((value) => {
    const share = value / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channelsOf(color: string): readonly number[] {
  return [1, 3, 5].map((start) => Number.parseInt(color.slice(start, start + 2), 16))
}

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
