import { Redis } from 'ioredis'

interface Entry {
  readonly key: string
  readonly ttlMs: number
  readonly value: Buffer
}

/** Every key of a Redis with its value. */
export async function dumpAll(url: string): Promise<Entry[]> {
  const redis = new Redis(url)
  const entries: Entry[] = []
  for (const key of await redis.keys('*')) {
    const [value, ttlMs] = await Promise.all([redis.dumpBuffer(key), redis.pttl(key)])
    if (value) entries.push({ key, ttlMs: Math.max(0, ttlMs), value })
  }
  redis.disconnect()
  return entries
}

/** Restores them; as with a complete backup, the store is consistent only once all is there. */
export async function restoreAll(url: string, entries: readonly Entry[]): Promise<void> {
  const redis = new Redis(url)
  const isMark = ({ key }: Entry) => key.endsWith('store-id')
  for (const { key, ttlMs, value } of entries.toSorted((a, b) => Number(isMark(a)) - Number(isMark(b)))) {
    await redis.restore(key, ttlMs, value, 'REPLACE')
  }
  redis.disconnect()
}
