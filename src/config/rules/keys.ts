import { methodOverrides, pathOverrides } from '#gateway/forward/header-rules.ts'
import { carrierWords } from '#identity/carriers.ts'
import { oldKeyPrefixes, secretPrefixes } from '#platform/secrets/key-format.ts'
import { parseSealingKeys } from '#platform/secrets/sealing-key.ts'
import { foldHeaderName } from '#platform/text.ts'
import type { ConfigReview } from '../schema/schema.ts'
import { identityHeaders, reservedHeaders } from './identity.ts'

/** Common request headers, in addition to those that no configured header may be; letters and digits. */
const ordinaryHeaders = new Set([
  'accept',
  'cachecontrol',
  'dpop',
  'from',
  'lasteventid',
  'maxforwards',
  'origin',
  'pragma',
  'proxy',
  'range',
  'referer',
  'useragent',
  'xrequestedwith',
  ...pathOverrides,
  ...methodOverrides,
])
/** Prefixes of further common headers. */
const ordinaryPrefixes = ['accept-', 'access-control-', 'content-', 'if-', 'sec-', 'x-forwarded-']

/** Checks where secret keys may be sent (`keys.accept`), and that their prefix is not that of another credential. */
export function reviewKeyCarriers(review: ConfigReview): void {
  reviewPrefix(review)
  if (!review.hasValidShape(['keys', 'accept'])) return
  // A reserved name is reported at its own option.
  const taken = new Set([...identityHeaders(review)].filter((name) => !reservedHeaders.has(name)))
  const seen = new Map<string, string>()
  for (const [index, name] of review.tree.keys.accept.entries()) {
    const path = ['keys', 'accept', index]
    if (!review.isValid(path)) continue
    const normalized = foldHeaderName(name)
    const problem = carrierProblem(name, taken) ?? duplicateProblem(name, seen.get(normalized))
    if (problem !== undefined) review.report(path, problem)
    seen.set(normalized, name)
  }
}

function carrierProblem(name: string, identity: ReadonlySet<string>): string | undefined {
  const lower = name.toLowerCase()
  const normalized = foldHeaderName(name)
  const word = carrierWords.find((each) => each === lower)
  if (word !== undefined) return word === name ? undefined : `write "${word}" in lower case`
  if (normalized === '') return 'must contain a letter or digit'
  if (normalized === 'authorization')
    return `"${name}" has several schemes: write "bearer" for Authorization: Bearer, "basic" for the password of Authorization: Basic`
  if (identity.has(normalized))
    return `"${name}" is an identity header, which is never accepted from a client: choose another name`
  const isReserved = reservedHeaders.has(normalized) && normalized !== 'secretkey'
  if (
    isReserved ||
    ordinaryHeaders.has(normalized) ||
    ordinaryPrefixes.some((each) => lower.startsWith(each))
  )
    return `"${name}" is a reserved header: choose another name`
  return undefined
}

function duplicateProblem(name: string, before: string | undefined): string | undefined {
  if (before === undefined) return undefined
  return before === name
    ? `"${name}" is listed twice`
    : `"${name}" is the same as "${before}" (only letters and digits are compared)`
}

/** The prefixes of other credentials, and of both kinds of key from before the prefix could be chosen. */
const takenPrefixes = new Set<string>([...Object.values(secretPrefixes), ...Object.values(oldKeyPrefixes)])

function reviewPrefix(review: ConfigReview): void {
  const path = ['keys', 'prefix']
  if (!review.isValid(path)) return
  const { prefix } = review.tree.keys
  if (takenPrefixes.has(prefix))
    review.report(path, `"${prefix}" is the prefix of another kind of credential: choose another`)
}

const creationHint = 'create one with: openssl rand -base64 32'

/** Checks that an existing sealing key is valid. It is only created with SQLite, which has a single instance. */
export function reviewKeys(review: ConfigReview): void {
  const path = ['keys', 'sealingKey']
  if (!review.isValid(path) || !review.isValid(['store', 'driver'])) return
  const { sealingKey } = review.tree.keys
  const isMadeAtStart = review.tree.store.driver === 'sqlite' && sealingKey.file !== undefined
  const text = isMadeAtStart
    ? review.secretIfPresent(path, sealingKey)
    : review.secret(path, sealingKey, sealingKey.file === undefined ? undefined : creationHint)
  if (text !== undefined && !parseSealingKeys(text)) {
    review.report(path, `is not a sealing key: it must be 32 bytes in base64 or hexadecimal; ${creationHint}`)
  }
}
