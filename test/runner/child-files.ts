import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import root, { type Test } from 'tap'
import type { ChildMessage, Failure, FileResult, RunnerMessage, Skip } from './results.ts'
import { setRunningFile } from './running-file.ts'

/**
 * A process that runs test files, one after the other as the runner names them, each as a test of one TAP stream. What
 * a file costs before its first assertion is then mostly paid once: loading tap and the sources.
 */

type TestPoint = (typeof root.lists.fail)[number]

/** For what is still to be closed after the last file. */
const closingMs = 10_000

let number = 0
/** Whether the last file was run. */
let isEnding = false
// The root ends with the process; what bounds a file is its own timeout.
root.setTimeout(0)
root.on('complete', () => {
  // What a file did after its end may only be known now.
  for (const point of root.lists.fail.splice(0)) send({ kind: 'late', failure: failureOf(point) })
  // Nothing is left to be closed. Node would close what is unreferenced, and after a flood of HTTP/2 never ends with it.
  if (isEnding) process.exit()
})
process.on('message', (message: RunnerMessage) => {
  if (message.kind === 'end') end()
  else void runFile(message.file, message.allowedMs).then((result) => send({ kind: 'result', result }))
})

async function runFile(file: string, allowedMs: number): Promise<FileResult> {
  send({ kind: 'allow', ms: allowedMs })
  const begunAt = performance.now()
  const passedBefore = root.counts.pass
  number++
  const outcome = await root.test(String(number), { timeout: allowedMs }, async (test) => {
    // As tap calls it where the file has a process of its own: processes must not share it.
    test.testdirName = join(process.cwd(), '.tap/fixtures', file.replaceAll(/[^\w.-]+/g, '-'))
    setRunningFile({ test: tellingTimeouts(test), number })
    await import(pathToFileURL(join(process.cwd(), file)).href)
  })
  // tap lets go of the channel when it first writes; without it, this process would end before the next file comes.
  process.channel?.ref()
  const failed = root.lists.fail.splice(0)
  const failures = failed.filter((point) => !missingProgram(point)).map(failureOf)
  // Such as a plan that was not kept: no assertion of its own has failed.
  if (failed.length === 0 && outcome?.ok !== true) failures.push({ test: file, detail: 'did not pass' })
  return {
    file,
    passed: root.counts.pass - passedBefore,
    failures,
    skips: [...root.lists.skip.splice(0).map(skipOf), ...failed.flatMap(skipForProgram)],
    ms: performance.now() - begunAt,
    timedOut: failed.some(({ diag }) => diag?.expired !== undefined),
  }
}

/** A file that asks for more time than usual gets it from the runner too. */
function tellingTimeouts(test: Test): Test {
  const setTimeout = test.setTimeout.bind(test)
  test.setTimeout = (ms) => {
    // tap ends a test with 0.
    if (ms > 0) send({ kind: 'allow', ms })
    setTimeout(ms)
  }
  return test
}

/** The titles below that of the file. */
function titlesOf({ fullname }: TestPoint): string {
  return fullname.replace(/^TAP > (?:\d+(?: > |$))?/, '') || 'the file'
}

function failureOf(point: TestPoint): Failure {
  const { diff, at, message, stack } = point.diag ?? {}
  const place = at?.fileName ? `${at.fileName}:${at.lineNumber}` : stack
  const detail = [message, place, diff].filter((part) => typeof part === 'string').join('\n')
  return { test: titlesOf(point), detail }
}

function skipOf(point: TestPoint): Skip {
  const { skip } = point
  return {
    test: titlesOf(point),
    reason: typeof skip === 'string' && skip !== '' ? skip : 'no reason is given',
  }
}

/** Where a test failed because a program is not there (`MissingProgram`), its name. */
function missingProgram({ diag }: TestPoint): string | undefined {
  return diag?.code === 'MISSING_PROGRAM' ? String(diag.program) : undefined
}

function skipForProgram(point: TestPoint): readonly Skip[] {
  const program = missingProgram(point)
  return program === undefined ? [] : [{ test: titlesOf(point), reason: `needs ${program}` }]
}

function end(): void {
  isEnding = true
  const timer = setTimeout(() => send({ kind: 'open', resources: openResources() }), closingMs).unref()
  process.once('beforeExit', () => clearTimeout(timer))
  process.removeAllListeners('message')
  process.channel?.unref()
}

/** What keeps this process from ending, but for the channel to the runner and the timer that asks. */
function openResources(): readonly string[] {
  const resources = process.getActiveResourcesInfo().filter((each) => each !== 'PipeWrap')
  const own = resources.indexOf('Timeout')
  return own < 0 ? resources : resources.toSpliced(own, 1)
}

function send(message: ChildMessage): void {
  process.send?.(message)
}
