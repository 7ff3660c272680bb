import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { LoadResults } from './commands.ts'

/** How many are opened at once. */
const batch = 100

/** Connections that stay open when their command has completed. */
const held: Socket[] = []

/** Opens connections up to a total. */
export async function openConnections(
  count: number,
  open: () => Promise<Socket>,
): Promise<LoadResults['idle']> {
  while (held.length < count) {
    const missing = Math.min(batch, count - held.length)
    held.push(...(await Promise.all(Array.from({ length: missing }, open))))
  }
  return { open: held.length }
}

/** Closes them all. */
export async function closeConnections(): Promise<LoadResults['close']> {
  const closed = held.length
  const gone = held.map((socket) => once(socket, 'close'))
  for (const socket of held.splice(0)) socket.destroy()
  await Promise.all(gone)
  return { closed }
}
