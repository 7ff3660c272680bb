import t from 'tap'
import { preface as bytes, PrefaceReader } from '#http/h2/framing/preface.ts'

const preface = bytes.toString('latin1')

/** What is read as HTTP/1.1, and what as HTTP/2. */
function read(pieces: readonly string[]): { readonly http1: string; readonly http2: string } {
  const reader = new PrefaceReader()
  let http1 = ''
  let http2 = ''
  for (const piece of pieces) {
    const isOver = reader.isFound || reader.isAbsent
    const passedOn = isOver ? Buffer.from(piece) : reader.read(Buffer.from(piece))
    if (reader.isFound) http2 += passedOn.toString('latin1')
    else http1 += passedOn.toString('latin1')
  }
  return { http1, http2 }
}

const cutAt = (text: string, at: number) => [text.slice(0, at), text.slice(at)]

t.test('the preface of HTTP/2 is found, wherever it is cut', async (t) => {
  const all = `${preface}and frames`
  t.equal(read([all]).http2, all)
  t.equal(read([...all]).http2, all)
  for (let at = 1; at < all.length; at++) {
    t.equal(read(cutAt(all, at)).http2, all, `in two pieces, after ${at} bytes`)
    t.equal(read([...cutAt(all.slice(0, at), at >> 1), all.slice(at)]).http2, all)
  }
})

t.test('what is not the preface is read as HTTP/1.1 without a change, wherever it is cut', async (t) => {
  const heads = ['POST / HTTP/1.1\r\n\r\n', 'PRIVATE / HTTP/1.1\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\rX']
  // Each has one byte of the preface changed.
  for (let at = 0; at < preface.length; at++) heads.push(`${preface.slice(0, at)}x${preface.slice(at + 1)}`)
  for (const head of heads) {
    t.same(read([head]), { http1: head, http2: '' })
    t.same(read([...head]), { http1: head, http2: '' })
    for (let at = 1; at < head.length; at++) t.same(read(cutAt(head, at)), { http1: head, http2: '' })
  }
})

t.test('the beginning of a preface is the beginning of a head', async (t) => {
  for (let length = 1; length < preface.length; length++)
    t.same(read([...preface.slice(0, length)]), { http1: preface.slice(0, Math.min(3, length)), http2: '' })
})
