import { statSync } from 'node:fs'
import { isRecord } from '#platform/json.ts'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { formatDay, startOfDay } from '#platform/time.ts'
import type { Config } from '../config.ts'
import type { Warning } from '../problem.ts'
import { type ConfigTree, schemaAt } from '../schema/schema.ts'
import { optionLeaves } from '../show.ts'

/** Mode bits: all other users may read the file, and they or the group may write it. */
const readableByAll = 0o004
const writableByOthers = 0o022

/** Files with secrets that other users of the machine can read or replace. Windows has no such modes. */
export function findInsecureFileModes(tree: ConfigTree, resolvePath: (path: string) => string): Warning[] {
  if (process.platform === 'win32') return []
  return optionLeaves(tree).flatMap(({ path, value, isSecret }): Warning[] => {
    if (!isSecret || schemaAt(path)?.isPublic || !isRecord(value) || typeof value.file !== 'string') return []
    const file = resolvePath(value.file)
    const mode = modeOf(file)
    if (mode === undefined || (mode & (readableByAll | writableByOthers)) === 0) return []
    const who = mode & writableByOthers ? 'other users can replace' : 'every user of this machine can read'
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    return [{ path, message: `${who} ${file} (mode ${shown})`, hint: `chmod 600 ${file}` }]
  })
}

/** undefined if the file does not exist yet. */
function modeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mode
}

/** A replaced sealing key that is still accepted, although no refresh token can need it any more. */
export function findLeftSealingKeys({ keys, tokens }: Config, now: number): Warning[] {
  const since = previousSince(keys.sealingKey)
  if (since === undefined || now < startOfDay(since + 1) + tokens.refreshLifetimeMs) return []
  const message = `a previous key, replaced on ${formatDay(since)}, is still accepted`
  return [{ path: ['keys', 'sealingKey'], message, hint: 'gatehouse sealing-key rotate --drop' }]
}

/** undefined = there is none; problems of the keys themselves are errors, and reported elsewhere. */
function previousSince(source: Config['keys']['sealingKey']): number | undefined {
  try {
    return readSealingKeys(source, { mayCreate: false }).previous?.since
  } catch {
    return undefined
  }
}
