import t from 'tap'
import { type Line, lineBytesMax, readLines } from '#platform/files.ts'

async function linesOf(
  chunks: readonly (string | Uint8Array)[],
  bytesMax?: number,
): Promise<readonly Line[]> {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (const chunk of chunks) yield Buffer.from(chunk)
  }
  const lines: Line[] = []
  for await (const some of readLines(bytes(), bytesMax)) lines.push(...some)
  return lines
}

t.test('lines end at LF and CR LF, also where chunks end between or within characters', async (t) => {
  const text = 'a\r\n\nbé\rc\nlast'
  const expected = ['a', '', 'bé\rc', 'last'].map((text, index) => ({
    line: index + 1,
    text,
    problem: undefined,
  }))
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size++) {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    t.strictSame(await linesOf(chunks), expected, `chunks of ${size}`)
  }
})

t.test('nothing has no line, and a last line break begins none', async (t) => {
  t.strictSame(await linesOf([]), [])
  t.strictSame((await linesOf(['a\n'])).length, 1)
})

t.test('a line may have 1 MiB, but no byte more; the next line is read', async (t) => {
  const longest = 'x'.repeat(lineBytesMax)
  const lines = await linesOf([`${longest}\n`, `${longest}y\n`, longest, longest, longest, '\nnext\n'])
  t.strictSame(
    lines.map(({ text, problem }) => [text.length, problem]),
    [
      [lineBytesMax, undefined],
      [0, 'is longer than 1 MiB'],
      [0, 'is longer than 1 MiB'],
      [4, undefined],
    ],
  )
})

t.test('another length may be asked for', async (t) => {
  const bytesMax = 2 * lineBytesMax
  const longest = 'x'.repeat(bytesMax)
  const lines = await linesOf([longest, '\n', longest, 'y\n'], bytesMax)
  t.strictSame(
    lines.map(({ text, problem }) => [text.length, problem]),
    [
      [bytesMax, undefined],
      [0, 'is longer than 2 MiB'],
    ],
  )
})

t.test('a line that is not UTF-8 says so, and the others do not', async (t) => {
  const lines = await linesOf(['a\n', Uint8Array.of(0xff, 0x0a), 'b'])
  t.strictSame(
    lines.map(({ problem }) => problem),
    [undefined, 'is not valid UTF-8', undefined],
  )
})
