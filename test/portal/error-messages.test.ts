import t from 'tap'
import { findBadLines, readImportFile } from '#accounts/import-file.ts'
import { type ErrorCode, type ErrorDefinition, errorDefinitions } from '#platform/errors/codes.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { formRefusal } from '#portal/forms/refusal.ts'
import { lineMessage, translated, translationOf } from '#portal/texts/texts.ts'
import { exceededRateOf } from '#store/rates.ts'
import { thrownBy } from './support/thrown-messages.ts'

const german = translationOf('de')
const english = translationOf('en')
const { messages } = german.texts.errors

/** What portal people meet: the portal itself, and what its forms do. */
const thrown = thrownBy(
  /^(?:portal\/|accounts\/(?!apply\/)|identity\/(?:passwords|second-factor|portal|oidc|limits)\/|identity\/issuers\/subjects|platform\/secrets\/)/,
)

/** They are thrown before a request has a page, or after it: of the HTTP server, and of the store. */
const codesAround: readonly ErrorCode[] = [
  'body-too-large',
  'headers-too-large',
  'request-timeout',
  'shutting-down',
]
/** They have texts of their own in the portal. */
const codesOfPortal: readonly ErrorCode[] = ['store-unavailable', 'route-not-found', 'role-forbidden']

/** Files of the portal that throw where the language is not known yet. */
const withoutLanguage = [
  'portal/forms/body.ts',
  'portal/sign-in/oidc-pages.ts',
  'portal/portal-gate.ts',
  'portal/portal.ts',
]

function isOfHandler(path: string): boolean {
  return path.startsWith('portal/') && !withoutLanguage.includes(path)
}

/** Returned by a function rather than thrown where they are written (identity/oidc/provider.ts). */
const returned = [
  'The sign-in service answered “{}”. Start again.',
  'The sign-in service did not ask you to sign in again, or does not say when you did. Try again, or ask an administrator.',
]

const messagesBelow = [
  ...[...thrown.messages]
    .filter(([message, paths]) => message !== '' && !paths.every(isOfHandler))
    .map(([message]) => message),
  ...returned,
]

const shownCodes = [...new Set([...thrown.codes, ...codesAround])].filter(
  (code): code is ErrorCode =>
    Object.hasOwn(errorDefinitions, code) && !codesOfPortal.some((each) => each === code),
)

const textsOfCodes = shownCodes.flatMap((code) => {
  const { title, detail }: ErrorDefinition = errorDefinitions[code]
  return detail === undefined ? [title] : [title, detail]
})

t.test('every message that a form of the portal can meet has a German text', async (t) => {
  t.ok(messagesBelow.length > 40, 'the sources have been read')
  for (const message of ['must have at least {} characters', '{} is taken', 'Sign in again.'])
    t.ok(messagesBelow.includes(message), message)
  t.strictSame(
    messagesBelow.filter((message) => translated(messages, message) === undefined),
    [],
  )
})

t.test('every error that a page of the portal can show has a German title and detail', async (t) => {
  t.ok(shownCodes.length > 20)
  t.strictSame(
    textsOfCodes.filter((text) => !Object.hasOwn(messages, text)),
    [],
  )
})

t.test('no pattern takes the message of another, and what is inserted is kept', async (t) => {
  for (const [pattern, translate] of Object.entries(messages)) {
    if (typeof translate === 'string') continue
    const inserted = pattern
      .split('{}')
      .slice(1)
      .map((_, index) => `x${index}`)
    const message = inserted.reduce((text, part) => text.replace('{}', part), pattern)
    const inGerman = translated(messages, message) ?? ''
    t.equal(inGerman, translate(...inserted), pattern)
    for (const part of inserted) t.match(inGerman, part, pattern)
  }
  t.equal(translated(messages, 'must have at most characters'), undefined)
  t.equal(translated(messages, 'toString'), undefined)
})

t.test('handlers of the portal take what they say from the texts', async (t) => {
  const strays = [...thrown.messages].filter(([message, paths]) => message !== '' && paths.every(isOfHandler))
  t.strictSame(strays, [])
  // What the portal does not spell out itself is from the texts; the other rooms only pass messages on.
  const passedOn = /\.message$|detail$|: message$/
  t.strictSame(
    thrown.unknown.filter((expression) => !expression.startsWith('portal/') && !passedOn.test(expression)),
    [],
  )
})

t.test('a form is refused in the language of its viewer', async (t) => {
  const refused = (error: GatehouseError, values = {}) => {
    const { state } = formRefusal(german, error, values)
    return state.message ?? state.errors
  }
  t.strictSame(refused(invalidField('password', 'must have at least 12 characters')), {
    password: 'Mindestens 12 Zeichen.',
  })
  t.strictSame(refused(invalidField('name', '"ci" is the name of another key of this account')), {
    name: '„ci“ heißt schon ein anderer Schlüssel dieses Kontos.',
  })
  t.strictSame(refused(new GatehouseError('account-exists'), { email: 'ada@example.com' }), {
    email: 'Es gibt bereits ein Konto mit dieser E-Mail-Adresse.',
  })
  t.equal(refused(new GatehouseError('last-admin')), messages[errorDefinitions['last-admin'].detail])
  const rates = [
    [1_000, 'in einer Sekunde'],
    [45_000, 'in 45 Sekunden'],
    [60_000, 'in einer Minute'],
    [3_000_000, 'in 50 Minuten'],
  ] as const
  for (const [retryMs, when] of rates) {
    const rate = exceededRateOf(
      'form',
      { limit: 1, perMs: 60_000 },
      { isAllowed: false, remaining: 0, resetMs: retryMs, retryMs },
    )
    const detail = messages[errorDefinitions['rate-limited'].detail]
    t.equal(
      refused(new GatehouseError('rate-limited', { rate })),
      `${detail} Versuchen Sie es ${when} noch einmal.`,
    )
  }
  const { state } = formRefusal(english, invalidField('name', 'is a message without translation'), {})
  t.strictSame(state.errors, { name: 'This name is a message without translation.' })
})

t.test('every bad line of an import file is explained in German', async (t) => {
  const files = [
    'email,role\n"ada@example.com,User',
    'email,role\n"ada"x@example.com,User\n',
    'role,plan\n',
    'email,,role\n',
    'email\nada@example.com\nada@example.com\n',
    'email,role,email\n',
    'email,role\nada@example.com\n',
    '{"email": "ada@example.com"\n',
    '{"email": "ada@example.com", "email": "b@example.com"}\n',
    '{}\n[1]\n',
    '{"email": 1, "isVerified": 2, "emial": "x", "x": 1}\n',
    `{"email": "ada", "firstName": "${'x'.repeat(200)}", "role": "1"}\n`,
    `email\n"${'x\n'.repeat(5_000)}"`,
  ]
  const bytes = [
    ...files.map((text) => Buffer.from(text)),
    Buffer.from('email\nm\xfcller@example.com', 'latin1'),
  ]
  const read = await Promise.all(bytes.map(readImportFile))
  const lines = read.flatMap(({ badLines }) => badLines.map(({ message }) => message))
  t.ok(lines.length >= files.length)
  const accounts = { findTaken: async (emails: readonly string[]) => [...emails], planNames: ['basic'] }
  const taken = await findBadLines(
    await readImportFile(Buffer.from('email,plan\nada@example.com,gold')),
    accounts,
  )
  lines.push(...taken.map(({ message }) => message))
  for (const line of lines) {
    t.equal(lineMessage(english.texts, line), line)
    const inGerman = lineMessage(german.texts, line)
    for (const part of line.split('; ')) {
      const english = part.slice(part.indexOf(':') + 1).trim()
      t.notMatch(inGerman, english, `${part} -> ${inGerman}`)
    }
  }
  const parts = lines.flatMap((line) => [line, ...line.split('; ').map((part) => part.replace(/^\w+: /, ''))])
  const said = [...messagesBelow, ...textsOfCodes, ...parts]
  const unused = Object.entries(messages).filter(
    ([pattern, translate]) => !said.some((text) => translated({ [pattern]: translate }, text) !== undefined),
  )
  t.strictSame(unused, [], 'there is no German text for what nobody says')
})
