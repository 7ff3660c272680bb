/** An event of the gateway has up to some 100 KiB. */
const charactersMax = 1_048_576

/**
 * The data of each event of a stream (https://html.spec.whatwg.org/multipage/server-sent-events.html) as the gateway
 * writes it: one line. The rest of a stream that was cut within an event is dropped.
 * @throws if the stream fails, or an event is too long
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    if (text.length > charactersMax) throw new Error('an event is too long')
    for (const event of events) if (event.startsWith('data: ')) yield event.slice('data: '.length)
  }
}
