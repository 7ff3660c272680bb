import t from 'tap'
import type { FileResult } from './results.ts'
import { isGood, secondTryMax, summaryOf } from './summary.ts'

function result(file: string, more: Partial<FileResult> = {}): FileResult {
  return { file, passed: 10, failures: [], skips: [], ms: 1_000, timedOut: false, ...more }
}

const failing = { failures: [{ test: 'one', detail: 'differs' }] }

t.test('the last line is the counts alone, before it the time and the five slowest files', async (t) => {
  const results = Array.from({ length: 7 }, (_, index) => result(`${index}.test.ts`, { ms: index * 1_000 }))
  t.equal(
    summaryOf({ results, secondTry: [], ms: 61_400 }),
    `The slowest files:
    6.0 s  6.test.ts
    5.0 s  5.test.ts
    4.0 s  4.test.ts
    3.0 s  3.test.ts
    2.0 s  2.test.ts
7 files in 61 s
70 passed, 0 failed, 0 skipped`,
  )
})

t.test('skips are counted by their reasons, with how to get the program', async (t) => {
  const skip = (reason: string) => ({ test: 'one', reason })
  const skips = [skip('needs redis-server'), skip('only root can'), skip('needs redis-server')]
  const text = summaryOf({ results: [result('a.test.ts', { skips })], secondTry: [], ms: 1_000 })
  t.match(
    text,
    'Skipped (3):\n  2 × needs redis-server (apt-get install redis-server, or brew install redis)\n',
  )
  t.match(text, '  1 × only root can\n')
  t.match(text, /\n10 passed, 0 failed, 3 skipped$/)
})

t.test('many reasons are cut short, and none of the counts', async (t) => {
  const skips = Array.from({ length: 20 }, (_, index) => ({ test: 'one', reason: `reason ${index}` }))
  const text = summaryOf({ results: [result('a.test.ts', { skips })], secondTry: [], ms: 1_000 })
  t.match(text, 'and for 5 more reasons')
  t.match(text, /, 20 skipped$/)
})

t.test('a failure fails the run, and its file is named', async (t) => {
  const outcome = { results: [result('a.test.ts'), result('b.test.ts', failing)], secondTry: [], ms: 1_000 }
  t.equal(isGood(outcome), false)
  t.match(summaryOf(outcome), 'Failed (1):\n  b.test.ts\n')
  t.match(summaryOf(outcome), /\n20 passed, 1 failed, 0 skipped$/)
})

t.test(
  'files that pass on their second try are counted and named, and more than two fail the run',
  async (t) => {
    t.equal(secondTryMax, 2)
    const outcomeOf = (...secondTry: readonly string[]) => ({
      results: secondTry.map((file) => result(file)),
      secondTry,
      ms: 1_000,
    })
    t.equal(isGood(outcomeOf('a.test.ts', 'b.test.ts')), true)
    t.equal(isGood(outcomeOf('a.test.ts', 'b.test.ts', 'c.test.ts')), false)
    const text = summaryOf(outcomeOf('a.test.ts', 'b.test.ts', 'c.test.ts'))
    t.match(text, 'Failed beside others and passed alone (3, of 2 allowed):\n  a.test.ts\n  b.test.ts\n')
  },
)
