import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Test } from 'tap'
import type { ThreadTask } from './sealing-key-main.ts'

const main = new URL('./sealing-key-main.ts', import.meta.url)

/** Opens one sealing key in many processes at once. @returns the keys in hexadecimal, or the errors */
export async function openInProcesses(t: Test, file: string, count: number): Promise<readonly string[]> {
  const children = Array.from({ length: count }, () => fork(fileURLToPath(main), ['serve']))
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
  })
  await Promise.all(children.map((child) => once(child, 'message')))
  const answers = children.map(async (child) => String((await once(child, 'message'))[0]))
  for (const child of children) child.send(file)
  return Promise.all(answers)
}

/** Opens one key after another in threads, which share their process ID, always all at once. @returns the keys of each file */
export async function openInThreads(
  t: Test,
  files: readonly string[],
  count: number,
): Promise<readonly (readonly string[])[]> {
  const gates = new Int32Array(new SharedArrayBuffer(4 * files.length))
  const workerData = { gates, count, files } satisfies ThreadTask
  const workers = Array.from({ length: count }, () => new Worker(main, { workerData }))
  t.teardown(() => Promise.all(workers.map((worker) => worker.terminate())))
  const answers = await Promise.all(workers.map((worker) => once(worker, 'message')))
  return files.map((_, round) => answers.map(([keys]) => String(keys[round])))
}
