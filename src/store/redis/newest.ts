import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const listScript = loadScript('list-newest')

/** A member of a sorted set whose scores are times. */
export interface TimedMember {
  readonly member: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A page of such a set, newest first. @param after may not be in it any more; undefined = from the newest */
export async function listNewest(
  { run, confirmAbsence }: Pick<Connection, 'run' | 'confirmAbsence'>,
  key: string,
  { after, limit }: { readonly after: TimedMember | undefined; readonly limit: number },
): Promise<readonly TimedMember[]> {
  // The cast is sound: the script returns nothing else.
  const texts = (await run(listScript, [key], [after?.member ?? '', after?.at ?? 0, limit])) as string[]
  if (texts.length === 0) await confirmAbsence()
  return texts.flatMap((member, index) => (index % 2 === 0 ? { member, at: Number(texts[index + 1]) } : []))
}
