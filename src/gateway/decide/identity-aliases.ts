import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import { foldHeaderName } from '#platform/text.ts'
import { identityNames, secondTargetFields, secondTargetNames } from '../forward/header-rules.ts'

/** As in header-rules.ts. */
const memoizeBounds = { entriesMax: 2_048, keyLengthMax: 64 }

/**
 * Refuses other spellings of identity headers (`X_User_Id`, `x.user.role`), and of those that name a second target. The
 * main listener drops them; here they would stay on the request, beside the header that the proxy sets or that was
 * decided about, and a backend that turns names into variables could read either.
 * @param configured names of the identity headers
 * @returns a function that throws GatehouseError `request-invalid`
 */
export function createAliasCheck(configured: readonly string[]): (rawHeaders: readonly string[]) => void {
  const names = [...identityNames, ...configured].map((name) => name.toLowerCase())
  const known = new Set([...names, ...secondTargetFields.keys()])
  const folded = new Set([...names.map(foldHeaderName), ...secondTargetNames])
  const isAlias = memoizeBounded(
    memoizeBounds,
    (name) => !known.has(name.toLowerCase()) && folded.has(foldHeaderName(name)),
  )
  return function assertNoAliases(rawHeaders) {
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (isAlias(name)) throw invalidField(name, 'could be read as a header of the gateway')
    }
  }
}
