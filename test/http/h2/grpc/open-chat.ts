import { until } from '../../../setup/net.ts'
import type { Called, Caller } from './caller.ts'

/** A call that stays open; the first message has been answered. */
export async function openChat(
  { call }: Caller,
  metadata: Readonly<Record<string, string>>,
): Promise<Called> {
  const path = '/shop.Orders/chat'
  const chat = call({ path, kind: 'chat', messages: ['one'], metadata, staysOpen: true })
  await until('it is open', () => chat.received.length === 1)
  return chat
}
