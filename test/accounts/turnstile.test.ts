import t from 'tap'
import { createTurnstile } from '../../src/accounts/turnstile.ts'

const options = { parallel: 2, waitingMax: 6, waitingOfOneMax: 3 }

/** Work that ends when it is told to. */
function createWork() {
  const running: (() => void)[] = []
  let most = 0
  const work = () =>
    new Promise<void>((resolve) => {
      running.push(resolve)
      most = Math.max(most, running.length)
    })
  return { work, running, most: () => most, endOne: () => running.shift()?.() }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('no more works at once than may, and all of it in turn', async (t) => {
  const turnstile = createTurnstile(options)
  const { work, running, most, endOne } = createWork()
  const who = ['a', 'a', 'a', 'a', 'b', 'b', 'c']
  const passes = who.map((name) => turnstile.pass(name, work))
  for (const [index] of passes.entries()) {
    await settled()
    t.equal(running.length, Math.min(options.parallel, passes.length - index))
    endOne()
  }
  await Promise.all(passes)
  t.equal(most(), options.parallel)
})

t.test('who finds no place is told so, and takes none from others', async (t) => {
  const turnstile = createTurnstile(options)
  const { work, endOne } = createWork()
  const passes = ['a', 'a', 'a', 'a', 'a'].map((name) => turnstile.pass(name, work))
  await t.rejects(turnstile.pass('a', work), { code: 'sign-in-busy' }, 'one more of the same')
  for (const name of ['b', 'c', 'd']) passes.push(turnstile.pass(name, work))
  await t.rejects(turnstile.pass('e', work), { code: 'sign-in-busy' }, 'one more than all places')
  for (const _ of passes) {
    await settled()
    endOne()
  }
  await Promise.all(passes)
  const last = turnstile.pass('a', work)
  await settled()
  endOne()
  await last
})

t.test('work that fails leaves its place to the next', async (t) => {
  const turnstile = createTurnstile({ ...options, parallel: 1 })
  const failing = turnstile.pass('a', async () => {
    throw new Error('it fails')
  })
  const next = turnstile.pass('a', async () => 'done')
  await t.rejects(failing, { message: 'it fails' })
  t.equal(await next, 'done')
})
