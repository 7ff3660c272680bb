import fc from 'fast-check'
import { createHeaderRules } from '#gateway/forward/header-rules.ts'
import { encodeHeaderValue } from '#gateway/forward/identity-headers.ts'
import { createUpstreamHeaders } from '#http/upstream/upstream-config.ts'
import { foldHeaderName } from '#platform/text.ts'
import { inputOf, linesOf, routeOf, writerOf } from '../../gateway/forward/heads.ts'
import { usualCarriers } from '../../setup/carriers.ts'
import { defaultIdentityHeaders } from '../../setup/default-identity-headers.ts'
import { type Property, property } from '../property.ts'

const rules = createHeaderRules(['Remote-User'], usualCarriers)
const droppedNames = [...defaultIdentityHeaders, 'Remote-User', 'Proxy', 'X-Request-Id', 'X-Forwarded-For']
const tokenCharacter = fc.constantFrom(..."abcxyzABCXYZ0189!#$%&'*+-.^_`|~")
const sign = fc.constantFrom(..."!#$%&'*+-.^_`|~", '')

/** Another spelling of a name: other case, and other signs or none at and between its characters. */
const spellingOf = (names: readonly string[]) =>
  fc
    .tuple(fc.constantFrom(...names), fc.infiniteStream(fc.tuple(fc.boolean(), sign)))
    .map(([name, choices]) => {
      const letters = Array.from(name.replaceAll('-', ''))
      return letters
        .map((letter) => {
          const [isUpper = false, after = ''] = choices.next().value ?? []
          return (isUpper ? letter.toUpperCase() : letter.toLowerCase()) + after
        })
        .join('')
    })

const spelling = spellingOf(droppedNames)
const name = fc.string({ unit: tokenCharacter, minLength: 1, maxLength: 20 })
const value = fc.string({ unit: fc.constantFrom(...'ab ,;=%"'), maxLength: 20 }).map((text) => text.trim())

/** What an upstream gets instead of the client's fields. */
const setFields = ['Authorization: Bearer ours', 'X-Api-Key: ours', 'Cookie: ours=1', 'X-A: ours']
const removedNames = ['X-Debug', 'Forwarded', 'X.B']
const backend = {
  name: 'backend',
  headers: createUpstreamHeaders(
    setFields.map((line) => ({
      name: line.split(':', 1)[0] ?? '',
      value: line.replace(/^.*?: /, ''),
      isSecret: false,
    })),
    removedNames,
  ),
}
const replacedNames = [...setFields.map((line) => line.split(':', 1)[0] ?? ''), ...removedNames]
const foldedNames = new Set(replacedNames.map(foldHeaderName))
const isReplaced = (line: string) => foldedNames.has(foldHeaderName(line.split(':', 1)[0] ?? ''))
const manyFields = fc.array(fc.oneof(fc.tuple(name, value), fc.tuple(spellingOf(replacedNames), value)), {
  maxLength: 12,
})

/** What a request of any route and client brings to an upstream with set and removed fields. */
const replacing = fc.record({
  fields: manyFields,
  forwards: fc.boolean(),
  isAnonymous: fc.boolean(),
  isUpgrade: fc.boolean(),
  isTrusted: fc.boolean(),
  nominated: fc.subarray(replacedNames),
})

type Replacing = typeof replacing extends fc.Arbitrary<infer Value> ? Value : never

const writer = writerOf()

function getsOnlyWhatIsSet({
  fields,
  forwards,
  isAnonymous,
  isTrusted,
  nominated,
  ...rest
}: Replacing): boolean {
  const input = inputOf(fields.flat())
  const lines = linesOf(fields.flat(), {
    ...rest,
    route: { ...routeOf(forwards, forwards), passesTrailers: forwards, upstream: backend },
    principal: isAnonymous ? undefined : input.principal,
    client: { ...input.client, isTrusted },
    connectionOptions: new Set(nominated.map((name) => name.toLowerCase())),
  })
  return lines.filter(isReplaced).join() === setFields.join()
}

export const headerProperties: readonly Property[] = [
  property(
    'no spelling of an identity header, of Proxy or of a name that the gateway sets passes',
    spelling,
    (name) => rules.ruleOf(name) === 'drop',
  ),
  property(
    'what an upstream gets ends with the identity, and has nothing before it that reads as identity',
    fc.array(fc.oneof(fc.tuple(name, value), fc.tuple(spelling, value)), { maxLength: 12 }),
    (fields) => {
      const lines = linesOf(fields.flat())
      const names = lines.map((line) =>
        line
          .slice(0, line.indexOf(':'))
          .toLowerCase()
          .replaceAll(/[^a-z0-9]/g, ''),
      )
      const identities = names.filter(
        (one) => one.startsWith('xuser') && /^xuser(?:id|role|email|name|session|scheme|verified)$/.test(one),
      )
      return identities.join() === 'xuserid,xuserrole' && names.slice(-2).join() === 'xuserid,xuserrole'
    },
  ),
  property(
    'a client can neither change nor remove what is set for an upstream, nor send what is removed',
    replacing,
    getsOnlyWhatIsSet,
  ),
  property(
    'no trailer reads as a field that is set for an upstream or removed',
    manyFields,
    (fields) => !writer.writeTrailers(fields.flat(), backend).split('\r\n').some(isReplaced),
  ),
  property('a header that is nobody else’s passes as it was sent', fc.tuple(name, value), ([rest, value]) =>
    linesOf([`Z${rest}`, value]).includes(`Z${rest}: ${value}`),
  ),
  property(
    'an identity value is visible ASCII, and decodes to what it was',
    fc.string({ unit: 'binary', maxLength: 40 }),
    (text) =>
      /^[!-~]*$/.test(encodeHeaderValue(text)) &&
      decodeURIComponent(encodeHeaderValue(text)) === text.toWellFormed(),
  ),
]
