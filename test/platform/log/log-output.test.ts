import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLogOutput, type LogOutputOptions } from '#platform/log/log-output.ts'
import { tempFolder } from '../../cli/run.ts'
import { until } from '../../setup/net.ts'

/** An output to a file of the test, which can stop accepting writes for a while. */
function openOutput(t: Test, options: Partial<LogOutputOptions> = {}) {
  const file = join(tempFolder(t), 'log')
  writeFileSync(file, '')
  let fd = openSync(file, 'a')
  // Left open: a write that is still in progress would go to the file that gets the number next.
  const output = createLogOutput({ fd, batchBytes: 64, chunkBytesMax: 128, ...options })

  /** Replaces the file of the descriptor: a new one gets the lowest number, which is the one just closed. */
  function turnTo(other: string): void {
    closeSync(fd)
    const next = openSync(other, 'a')
    t.equal(next, fd, 'the descriptor is the same')
    fd = next
  }

  return {
    output,
    lines: () => readFileSync(file, 'utf8').split('\n').slice(0, -1),
    fill: () => turnTo('/dev/full'),
    empty: () => turnTo(file),
    flushed: () => new Promise<void>((resolve) => output.flush(resolve)),
  }
}

t.test('log lines are written whole and in order, long ones too', async (t) => {
  const { output, lines, flushed } = openOutput(t)
  const expected = Array.from({ length: 500 }, (_, index) => `${index} ${'é'.repeat(index)}`)
  for (const line of expected) output.write(`${line}\n`)
  await flushed()
  t.strictSame(lines(), expected)
})

t.test('log lines short of a batch are written soon, without a flush', async (t) => {
  const { output, lines } = openOutput(t)
  output.write('a\n')
  // The output does not keep a process alive; waiting here does.
  await until('it is written', () => lines().length === 1)
})

t.test('a flush returns where the log cannot be written, and its lines follow later', async (t) => {
  const { output, lines, fill, empty, flushed } = openOutput(t)
  fill()
  for (let index = 0; index < 200; index++) output.write(`${index}\n`)
  await flushed()
  await flushed()
  t.strictSame(lines(), [])
  empty()
  await until('it is tried again', () => lines().length === 200)
  t.strictSame(
    lines(),
    Array.from({ length: 200 }, (_, index) => String(index)),
  )
})

t.test('log lines beyond 8 MiB of backlog are lost, and their number is logged afterwards', async (t) => {
  const losses: number[] = []
  const { output, lines, fill, empty, flushed } = openOutput(t, { onLoss: (lines) => losses.push(lines) })
  fill()
  const line = `${'x'.repeat(65_535)}\n`
  for (let index = 0; index < 131; index++) output.write(line)
  await flushed()
  t.strictSame(losses, [])
  empty()
  await until('the others are written', () => lines().length === 128)
  await flushed()
  t.strictSame(losses, [3])
})

t.test('a synchronous flush gives up where the log cannot be written', async (t) => {
  const { output, fill } = openOutput(t)
  fill()
  output.write(`${'x'.repeat(1_000)}\n`)
  output.write('last\n')
  output.flushSync()
  t.pass('it comes back')
})

t.test('a synchronous flush has written everything when it returns', async (t) => {
  const { output, lines } = openOutput(t)
  for (let index = 0; index < 10; index++) output.write(`${index}\n`)
  output.flushSync()
  t.equal(lines().length, 10)
})
