import { openSqliteStore } from '#store/sqlite/store.ts'
import type { Store } from '#store/store.ts'
import { createAccount, newSecretKey } from '../samples.ts'
import type { Task } from './client-process.ts'

/** A process of its own at a database; see client-process.ts. */

let store: Store | undefined

function opened(): Store {
  if (!store) throw new Error('nothing is open')
  return store
}

async function open(path: string): Promise<unknown> {
  await store?.close()
  store = undefined
  // A busy machine may keep a writer waiting: that is not what is tested here.
  store = openSqliteStore({ path, busyTimeoutMs: 10_000 })
  return { opened: path }
}

async function work(task: Task): Promise<unknown> {
  switch (task.verb) {
    case 'open':
      return open(task.path)
    case 'create':
      for (let created = 0; created < task.count; created++) await createAccount(opened())
      return { created: task.count }
    case 'change':
      for (let changed = 0; changed < task.count; changed++) await opened().updateAccount(task.id, {})
      return { changed: task.count }
    case 'rotate': {
      const rotation = await opened().rotateSession(task.use)
      return rotation.kind === 'current' ? { generation: rotation.session.generation } : rotation
    }
    case 'reset':
      return {
        isReset: await opened().resetSecretKey(task.id, { secretKey: newSecretKey(), graceUntil: undefined }),
      }
    default:
      return task satisfies never
  }
}

function serve(): void {
  process.on('message', (task: Task) => {
    work(task).then(
      (answer) => process.send?.(answer),
      (error: unknown) => process.send?.({ error: String(error) }),
    )
  })
  // A test that dies must not leave this behind.
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

// Only where it was started to serve.
if (process.argv[2] === 'serve') serve()
