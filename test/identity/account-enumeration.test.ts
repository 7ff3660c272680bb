import t from 'tap'
import { createKey } from '#platform/secrets/keys.ts'
import { visitor } from '../store/samples.ts'
import { openBench, wordOf } from './auth-harness.ts'

const nobodysId = 'x'.repeat(16)

/** Wrong credentials, and what the store is asked for because of them, in the order of asking. */
async function openGuesses(t: Parameters<typeof openBench>[0]) {
  const bench = await openBench(t)
  const { store, sessions, newCaller, decide } = bench
  const { id } = await newCaller()
  const asked: string[] = []
  const { readChanges, findAccount, findSession } = store
  Object.assign(store, {
    readChanges: (...args: Parameters<typeof readChanges>) => note('readChanges', readChanges(...args)),
    findAccount: (...args: Parameters<typeof findAccount>) => note('findAccount', findAccount(...args)),
    findSession: (...args: Parameters<typeof findSession>) => note('findSession', findSession(...args)),
  })

  /** Both ends of a step: what begins while another is still awaited is another order than one after the other. */
  async function note<Result>(step: string, result: Promise<Result>): Promise<Result> {
    asked.push(step)
    const found = await result
    asked.push(`${step} answered`)
    return found
  }

  /** What was asked, and what came of it. */
  async function stepsOf(guess: () => Promise<string>): Promise<readonly string[]> {
    asked.length = 0
    const word = await guess()
    return [...asked, word]
  }

  const wordOfKey = async (secretKey: string) => wordOf(await decide('any', { secretKey }))

  return {
    ...bench,
    id,
    ofKey: (secretKey: string) => stepsOf(() => wordOfKey(secretKey)),
    ofKeys: (secretKeys: readonly string[]) =>
      stepsOf(async () => [...new Set(await Promise.all(secretKeys.map(wordOfKey)))].join()),
    ofPair: (secretKey: string, apiKey: string) =>
      stepsOf(() =>
        sessions.start(secretKey, apiKey, visitor).then(
          () => 'in',
          ({ code }: { readonly code: string }) => code,
        ),
      ),
  }
}

const lookUp = ['findAccount', 'findAccount answered']
const reading = ['readChanges', 'readChanges answered']

t.test('a wrong key takes the same steps whether or not its account exists', async (t) => {
  const { id, ofKey } = await openGuesses(t)
  for (const accountId of [id, nobodysId]) {
    const key = createKey('secretKey', accountId)
    t.strictSame(await ofKey(key), [...lookUp, ...reading, 'secret-key-invalid'], 'the first')
    t.strictSame(await ofKey(key), ['secret-key-invalid'], 'the same again')
    for (const _ of [1, 2, 3]) {
      const other = createKey('secretKey', accountId)
      t.strictSame(await ofKey(other), [...reading, 'secret-key-invalid'], 'another of the same ID')
    }
  }
})

t.test('fifty simultaneous wrong keys take the same steps whether or not the account exists', async (t) => {
  const { id, ofKeys } = await openGuesses(t)
  for (const accountId of [id, nobodysId]) {
    const keys = Array.from({ length: 50 }, () => createKey('secretKey', accountId))
    t.strictSame(await ofKeys(keys), [...lookUp, ...reading, 'secret-key-invalid'])
  }
})

t.test('a wrong key pair takes the same steps whether or not its account exists', async (t) => {
  const { id, ofPair } = await openGuesses(t)
  for (const accountId of [id, nobodysId]) {
    const pair = [createKey('secretKey', accountId), createKey('apiKey', accountId)] as const
    for (const _ of [1, 2]) t.strictSame(await ofPair(...pair), [...lookUp, 'credentials-invalid'])
  }
})

t.test('with the store down a wrong key is undecided, whether or not its account exists', async (t) => {
  const { id, contact, ofKey } = await openGuesses(t)
  contact.isUp = false
  for (const accountId of [id, nobodysId]) {
    await t.rejects(ofKey(createKey('secretKey', accountId)), { code: 'store-unavailable' })
  }
})
