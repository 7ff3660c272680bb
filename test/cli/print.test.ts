import t from 'tap'
import { printData, table } from '#cli/print.ts'

t.test('a table has any number of rows, as wide as the longest of each column', async (t) => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [String(index), 'x'])
  const lines = table([...rows, ['1', 'a@example.com']], {
    columns: { ID: ([id]) => id, 'E-MAIL': ([, email]) => email },
    whenEmpty: 'nothing',
  })
  t.equal(lines.length, 200_002)
  t.strictSame([lines[0], lines[1], lines.at(-2)], ['ID      E-MAIL', '0       x', '199999  x'])
})

t.test('lines are made only where they are printed', async (t) => {
  const written: string[] = []
  const terminal = { out: { write: (text: string) => written.push(text) }, err: { write: () => {} } }
  const lines = (): readonly string[] => {
    t.fail('nobody asked for a table')
    return []
  }
  printData({ asJson: true, terminal }, [1], lines)
  printData({ asJson: false, terminal }, [1], () => ['one'])
  t.strictSame(written, ['[\n  1\n]\n', 'one\n'])
})
