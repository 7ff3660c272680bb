/** In a shape: another text each time. */
const counter = '{n}'

/**
 * What texts consist of that make careless code slow: each is repeated up to the largest size allowed. They begin what
 * does not end, separate what is empty, nest, or are nearly what a pattern looks for.
 */
export const shapes: readonly string[] = [
  ...[
    'a',
    'a.',
    '.',
    '.%',
    '%',
    '%4',
    '%41',
    '%2e',
    '%2F',
    '%3B',
    '%252F',
    '%FF',
    '%E2%84',
    '%C3%A9',
    '\xe9',
  ],
  ...[
    '\t',
    ' ',
    ',',
    ' ,',
    ',\t',
    'a,',
    '\t,',
    ';',
    '; ',
    ';=',
    ';a',
    '"',
    '\\"',
    '",',
    '="',
    '=',
    '==',
    'a=',
    'a=b&',
    '&',
  ],
  ...[
    'a=b;',
    'a=b; ',
    '%61=b;',
    '"a"=b,',
    '=;',
    'eyJ',
    'eyJa.',
    'eyJ.',
    'gate_sk_',
    'gate_sk_a~',
    '_sk_',
    'grt_',
    '-',
    '_',
    '0',
  ],
  ...[
    '[',
    '[]',
    '(',
    '{',
    '{}',
    '<',
    '<a>',
    '<http://a/>',
    '(["a"])',
    '/',
    '/a',
    '/.a',
    '/a;',
    '//',
    '\\',
    ':',
    '::',
    'a:',
    '@',
    'a@',
  ],
  ...[
    '?',
    '?a',
    '&token',
    '#',
    '+',
    '*',
    '!',
    '$&',
    "'",
    '~',
    'A',
    '\xc5\xbf',
    'q=0,',
    'a;q=0.1,',
    'text/html;',
    'text/html,\t',
  ],
  ...[
    'close,',
    'upgrade\t,',
    'timeout=',
    'W/"a",',
    '127.0.0.1,',
    '[::1]:1,',
    'for=a;',
    'Bearer ',
    'NTLM a=b, ',
    'a/1 ',
  ],
  ...['Version/1', 'gatehouse-visit=', 'accessToken=', 'http://a/', 'https://', '0;a', '1-2,', '\\u0041'],
  ...['a{n},', 'a{n}=b&', 'a{n}=b; ', '/a{n}', '{n};', '%C0%8{n}'],
]

/** A text of a length, or a little less. @param end of its own: the text is no other's */
export function repeated(shape: string, length: number, end: string): string {
  const room = length - end.length
  return (shape.includes(counter) ? counted(shape, room) : atLeastOnce(shape, room)) + end
}

function atLeastOnce(shape: string, room: number): string {
  return shape.repeat(Math.max(1, Math.floor(room / shape.length)))
}

/** Made once: it takes as long as what is measured. */
const countedTexts = new Map<string, string>()

function counted(shape: string, room: number): string {
  const id = `${room} ${shape}`
  const known = countedTexts.get(id)
  if (known !== undefined) return known
  const parts: string[] = []
  for (let left = room; left > 0; left -= parts.at(-1)?.length ?? 0)
    parts.push(shape.replace(counter, parts.length.toString(36)))
  const text = parts.join('')
  countedTexts.set(id, text)
  return text
}
