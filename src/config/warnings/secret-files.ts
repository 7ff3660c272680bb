import { statSync } from 'node:fs'
import { readSealingKeys } from '#platform/secrets/sealing-key.ts'
import { formatDay, startOfDay } from '#platform/time.ts'
import type { Config } from '../config.ts'
import type { Path, Warning } from '../problem.ts'
import { oidcProviders } from '../rules/oidc.ts'
import type { SecretReference } from '../schema/node.ts'
import type { ConfigTree } from '../schema/schema.ts'

/** Mode bits: all other users may read the file, and they or the group may write it. */
const readableByAll = 0o004
const writableByOthers = 0o022

interface SecretOption {
  readonly path: Path
  readonly reference: SecretReference | undefined
}

/** Files with secrets that other users of the machine can read or replace. Windows has no such modes. */
export function findInsecureFileModes(tree: ConfigTree, resolvePath: (path: string) => string): Warning[] {
  if (process.platform === 'win32') return []
  return secretOptions(tree).flatMap(({ path, reference }): Warning[] => {
    const file = reference?.file === undefined ? undefined : resolvePath(reference.file)
    const mode = file === undefined ? undefined : modeOf(file)
    if (mode === undefined || (mode & (readableByAll | writableByOthers)) === 0) return []
    const who = mode & writableByOthers ? 'other users can replace' : 'every user of this machine can read'
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    return [{ path, message: `${who} ${file} (mode ${shown})`, hint: `chmod 600 ${file}` }]
  })
}

function secretOptions(tree: ConfigTree): SecretOption[] {
  const { listen, keys, tokens, store, mail, upstreams } = tree
  const url = store.driver === 'redis' ? store.redis?.url : undefined
  return [
    { path: ['listen', 'tls', 'key'], reference: listen.tls?.key },
    { path: ['keys', 'sealingKey'], reference: keys.sealingKey },
    ...tokens.keys.map((key, index) => ({
      path: ['tokens', 'keys', index, 'private'],
      reference: key.private,
    })),
    { path: ['store', 'redis', 'url'], reference: typeof url === 'object' ? url : undefined },
    { path: ['store', 'redis', 'password'], reference: store.redis?.password },
    { path: ['store', 'redis', 'sentinel', 'password'], reference: store.redis?.sentinel?.password },
    { path: ['mail', 'password'], reference: mail?.password },
    ...oidcProviders(tree).map(([path, { clientSecret }]) => ({
      path: [...path, 'clientSecret'],
      reference: clientSecret,
    })),
    ...Object.entries(upstreams).flatMap(([name, { headers }]) =>
      Object.entries(headers.set).map(([field, value]) => ({
        path: ['upstreams', name, 'headers', 'set', field],
        reference: typeof value === 'string' ? undefined : value,
      })),
    ),
  ]
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
