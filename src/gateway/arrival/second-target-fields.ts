import { foldHeaderName } from '#platform/text.ts'

/** How a field's value names a second target; `account` names the Swift account for the target in another field. */
export type SecondTargetForm = 'destination' | 'url' | 'object' | 'swift' | 'account'

export interface SecondTargetField {
  /** The name as the gateway writes it. */
  readonly name: string
  readonly form: SecondTargetForm
  /** The methods that the second target is accessed by; absent = the method of the request. */
  readonly methods?: readonly string[]
  /** The field that names the Swift account of this target. */
  readonly accountName?: string
}

const copied = ['GET']
const renamed = ['GET', 'DELETE']

/**
 * The fields in which a request names a second target, by their names in lower case: WebDAV (RFC 4918 10.3), Azure
 * Storage, the stores that speak S3 or its dialects, and Swift. The gateway writes them once they are checked.
 */
export const secondTargetFields: ReadonlyMap<string, SecondTargetField> = new Map(
  (
    [
      { name: 'Destination', form: 'destination', accountName: 'Destination-Account' },
      { name: 'Destination-Account', form: 'account' },
      { name: 'X-Copy-From', form: 'swift', methods: copied, accountName: 'X-Copy-From-Account' },
      { name: 'X-Copy-From-Account', form: 'account' },
      { name: 'X-Amz-Copy-Source', form: 'object', methods: copied },
      { name: 'X-Amz-Rename-Source', form: 'object', methods: renamed },
      { name: 'X-Goog-Copy-Source', form: 'object', methods: copied },
      { name: 'X-Oss-Copy-Source', form: 'object', methods: copied },
      { name: 'X-Obs-Copy-Source', form: 'object', methods: copied },
      { name: 'X-Ms-Copy-Source', form: 'url', methods: copied },
      { name: 'X-Ms-Rename-Source', form: 'url', methods: renamed },
      { name: 'X-Ms-File-Rename-Source', form: 'url', methods: renamed },
    ] satisfies SecondTargetField[]
  ).map((field) => [field.name.toLowerCase(), field]),
)

/** mod_dav reads it where there is no Destination. */
const destinationAlias = 'New-URI'

/**
 * These names, reduced to letters and digits: other spellings are dropped, as a backend could take them for these
 * fields.
 */
export const secondTargetNames: readonly string[] = [
  ...[...secondTargetFields.values()].map(({ name }) => name),
  destinationAlias,
].map(foldHeaderName)
