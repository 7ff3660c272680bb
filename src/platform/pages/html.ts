/** HTML that is safe to send: made by the `html` tag, which escapes all interpolated values. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** An interpolated value: text and numbers are escaped; undefined and false render as nothing. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/**
 * A fragment of HTML. Values are escaped for text and for attributes in double quotes, the only places where they may
 * be used.
 */
export function html(pieces: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(pieces.reduce((text, piece, index) => text + escapeContent(contents[index - 1]) + piece))
}

/** For text that is known to be safe HTML, such as an icon. */
export function rawHtml(text: string): Html {
  return new Html(text)
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeContent(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(escapeContent).join('')
  return String(content).replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')
}

/** An attribute, or nothing. */
export function attributeIf(isThere: boolean, attribute: string): Html | undefined {
  return isThere ? new Html(` ${attribute}`) : undefined
}
