import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { RefreshTokenUse } from '#store/sessions.ts'

/** What a process may be asked to do. */
export type Task =
  | { readonly verb: 'open'; readonly path: string }
  | { readonly verb: 'create'; readonly count: number }
  | { readonly verb: 'change'; readonly id: string; readonly count: number }
  | { readonly verb: 'rotate'; readonly use: RefreshTokenUse }
  | { readonly verb: 'reset'; readonly id: string }

export interface ClientProcess {
  /** One task at a time. */
  ask(task: Task): Promise<unknown>
}

/** Another process; it ends with the test. */
export async function startClient(t: Test): Promise<ClientProcess> {
  const child = fork(fileURLToPath(new URL('./client-main.ts', import.meta.url)), ['serve'])
  const exited = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const [hello] = await once(child, 'message')
  if (hello !== 'ready') throw new Error(`the process said ${JSON.stringify(hello)}`)
  return {
    ask: async (task) => {
      child.send(task)
      const [answer] = await once(child, 'message')
      return answer
    },
  }
}

/** Some processes at one database. */
export async function startClients(t: Test, count: number, path: string): Promise<readonly ClientProcess[]> {
  const clients = await Promise.all(Array.from({ length: count }, () => startClient(t)))
  for (const client of clients) await client.ask({ verb: 'open', path })
  return clients
}
