import fc from 'fast-check'
import { createHeaderRules } from '../../../src/proxy/header-rules.ts'
import { encodeHeaderValue } from '../../../src/proxy/identity-headers.ts'
import { linesOf } from '../../proxy/heads.ts'
import { usualCarriers } from '../../setup/carriers.ts'
import { defaultIdentityHeaders } from '../../setup/default-identity-headers.ts'
import { type Property, property } from '../property.ts'

const rules = createHeaderRules(['Remote-User'], usualCarriers)
const droppedNames = [...defaultIdentityHeaders, 'Remote-User', 'Proxy', 'X-Request-Id', 'X-Forwarded-For']
const tokenCharacter = fc.constantFrom(..."abcxyzABCXYZ0189!#$%&'*+-.^_`|~")
const sign = fc.constantFrom(..."!#$%&'*+-.^_`|~", '')

/** Another spelling of a name: other case, and other signs or none at and between its characters. */
const spelling = fc
  .tuple(fc.constantFrom(...droppedNames), fc.infiniteStream(fc.tuple(fc.boolean(), sign)))
  .map(([name, choices]) => {
    const letters = Array.from(name.replaceAll('-', ''))
    return letters
      .map((letter) => {
        const [isUpper = false, after = ''] = choices.next().value ?? []
        return (isUpper ? letter.toUpperCase() : letter.toLowerCase()) + after
      })
      .join('')
  })

const name = fc.string({ unit: tokenCharacter, minLength: 1, maxLength: 20 })
const value = fc.string({ unit: fc.constantFrom(...'ab ,;=%"'), maxLength: 20 }).map((text) => text.trim())

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
