import t from 'tap'
import { createProgress } from '#cli/output.ts'

/** Progress on an output of the test, at a time of the test. */
function open(isTTY: boolean, total?: number) {
  let [at, text] = [0, '']
  const err = { isTTY, write: (more: string) => (text += more) }
  const progress = createProgress({ verb: 'checked', total, err, now: () => at })
  return {
    progress,
    reportAt: (ms: number, count: number) => {
      at = ms
      progress.report(count)
    },
    text: () => text,
  }
}

t.test('on a terminal one line is overwritten twice a second, and ended', async (t) => {
  const { progress, reportAt, text } = open(true, 1_000)
  reportAt(499, 100)
  t.equal(text(), '')
  reportAt(500, 200)
  reportAt(700, 300)
  reportAt(1_000, 400)
  progress.end()
  t.equal(text(), '\rchecked 200 of 1000 (400/s)\rchecked 400 of 1000 (400/s)\n')
})

t.test('elsewhere a line comes every ten seconds', async (t) => {
  const { progress, reportAt, text } = open(false)
  reportAt(9_999, 100)
  t.equal(text(), '')
  reportAt(10_000, 200)
  reportAt(20_000, 500)
  progress.end()
  t.equal(text(), 'checked 200 (20/s)\nchecked 500 (25/s)\n')
})

t.test('the last line says what was done', async (t) => {
  for (const [isTTY, expected] of [
    [true, '\rchecked 200 of 450 (20/s)\rchecked 450 of 450 (43/s)\n'],
    [false, 'checked 200 of 450 (20/s)\nchecked 450 of 450 (43/s)\n'],
  ] as const) {
    const { progress, reportAt, text } = open(isTTY, 450)
    reportAt(10_000, 200)
    reportAt(10_400, 450)
    progress.end()
    t.equal(text(), expected)
  }
})

t.test('what is counted is named where it is not clear', async (t) => {
  let [now, text] = [0, '']
  const err = { write: (more: string) => (text += more) }
  const progress = createProgress({ verb: 'exported', noun: 'accounts', err, now: () => now })
  now = 10_000
  progress.report(50)
  t.equal(text, 'exported 50 accounts (5/s)\n')
})

t.test('work that is done at once shows nothing, on a terminal too', async (t) => {
  const { progress, reportAt, text } = open(true)
  reportAt(10, 5)
  progress.end()
  t.equal(text(), '')
})
