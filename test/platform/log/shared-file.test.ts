import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tempFolder } from '../../cli/run.ts'

const workers = [0, 1]
const lineCount = 2_000
const logModule = new URL('../../../src/platform/log/log.ts', import.meta.url).href
const program = `
  const { createLog } = await import(${JSON.stringify(logModule)})
  const worker = Number(process.argv[1])
  const log = createLog({ level: 'info', format: 'json', worker })
  for (let index = 0; index < ${lineCount}; index++) {
    log.line('"text":"' + String(worker).repeat(index % 500) + '",', 'request')
    // Batches are written while others write theirs.
    if (index % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }`

for (const [what, flag] of [
  ['replaced', 'w'],
  ['appended to', 'a'],
] as const) {
  t.test(`lines of several workers never mix in a file that is ${what}`, async (t) => {
    const file = join(tempFolder(t), 'log')
    const stdout = openSync(file, flag)
    const ended = workers.map((worker) =>
      once(
        spawn(process.execPath, ['--input-type=module', '--eval', program, String(worker)], {
          stdio: ['ignore', stdout, 'inherit'],
        }),
        'exit',
      ),
    )
    t.strictSame(await Promise.all(ended), Array(workers.length).fill([0, null]))
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1)
    for (const worker of workers) {
      const texts = lines.map((line) => JSON.parse(line)).filter((line) => line.worker === worker)
      t.strictSame(
        texts.map(({ text }) => text),
        Array.from({ length: lineCount }, (_, index) => String(worker).repeat(index % 500)),
      )
    }
  })
}
