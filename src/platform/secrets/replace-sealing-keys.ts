import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../errors/operator-error.ts'
import { errorMessage } from '../system-error.ts'
import { formatSealingKeys, type SealingKeySet } from './sealing-key-set.ts'

/**
 * Replaces the content of a sealing key file in one step: whoever reads it, and a machine that loses power, has the old
 * keys or the new ones. It keeps its owner and group, and others never get access.
 * @throws OperatorError where it cannot be written; it is then as it was
 */
export function replaceSealingKeys(file: string, keys: SealingKeySet): void {
  let temporaryFile: string | undefined
  try {
    const target = realpathSync(file)
    const { uid, gid, mode } = statSync(target)
    temporaryFile = `${target}.${randomUUID()}`
    writeFileSync(temporaryFile, formatSealingKeys(keys), { mode: 0o600, flush: true })
    const own = statSync(temporaryFile)
    if (own.uid !== uid || own.gid !== gid) chownSync(temporaryFile, uid, gid)
    if ((mode & 0o040) !== 0) chmodSync(temporaryFile, 0o640)
    renameSync(temporaryFile, target)
    syncFolder(dirname(target))
  } catch (cause) {
    if (temporaryFile !== undefined) rmSync(temporaryFile, { force: true })
    throw new OperatorError(`cannot replace the sealing key ${file}: ${errorMessage(cause)}`, {
      hint: 'If it is mounted or managed elsewhere: gatehouse sealing-key rotate --print',
      cause,
    })
  }
}

/** The rename is durable only with its folder. Windows cannot open folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
