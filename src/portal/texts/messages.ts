/**
 * What lower rooms say in English, in another language: whole sentences by the English text, where `{}` stands for
 * anything that is inserted.
 */
export type Messages = Readonly<Record<string, string | ((...inserted: string[]) => string)>>

/** The message in the language of the table; undefined = it has none. */
export function translated(messages: Messages, message: string): string | undefined {
  const exact = Object.hasOwn(messages, message) ? messages[message] : undefined
  if (typeof exact === 'string') return exact
  for (const [pattern, translate] of Object.entries(messages)) {
    const inserted = typeof translate === 'function' && insertedIn(message, pattern.split('{}'))
    if (inserted) return translate(...inserted)
  }
  return undefined
}

/** What stands between the parts; undefined = the message is another. Takes linear time. */
function insertedIn(message: string, [first = '', ...others]: readonly string[]): string[] | undefined {
  if (!message.startsWith(first)) return undefined
  const inserted: string[] = []
  let from = first.length
  for (const [index, part] of others.entries()) {
    const isLast = index === others.length - 1
    const at = isLast ? message.length - part.length : message.indexOf(part, from)
    if (at < from || !message.startsWith(part, at)) return undefined
    inserted.push(message.slice(from, at))
    from = at + part.length
  }
  return inserted
}
