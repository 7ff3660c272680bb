/** HTML that is safe to send: made by the `html` tag, which escapes whatever is put into it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** What a template takes: text and numbers are escaped; nothing comes of undefined and false. */
export type Content = Html | string | number | undefined | false | readonly Content[]

/**
 * A piece of a page. Whatever is put in is escaped for text and for attributes in double quotes, which are
 * the only places to put anything.
 */
export function html(pieces: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(pieces.reduce((text, piece, index) => text + write(contents[index - 1]) + piece))
}

/** For what is known to be HTML: icons of ours. */
export function trusted(text: string): Html {
  return new Html(text)
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function write(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Html) return content.text
  if (typeof content === 'object') return content.map(write).join('')
  return String(content).replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '')
}

/** The attribute alone, where it is to be there. */
export function when(isThere: boolean, attribute: string): Html | undefined {
  return isThere ? new Html(` ${attribute}`) : undefined
}
