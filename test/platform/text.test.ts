import t from 'tap'
import { copyString, didYouMean, suggest } from '#platform/text.ts'

t.test('a copy is the same text, whatever its characters', async (t) => {
  for (const text of [
    '',
    'plain',
    '\u0000\u00ff',
    'Zoë',
    'Łódź',
    '日本語',
    '🙂',
    'half \ud83d',
    '\udc00',
    'a\u0100b',
  ]) {
    t.equal(copyString(text), text)
  }
})

const options = ['listen', 'upstreams', 'routes', 'tokens', 'cookie', 'trustedProxies', 'log', 'ops']

t.test('a misspelt word suggests the one that was meant', async (t) => {
  const slips: readonly (readonly [what: string, word: string, meant: string])[] = [
    ['a letter too many', 'routess', 'routes'],
    ['a letter too few', 'route', 'routes'],
    ['a wrong letter', 'cookia', 'cookie'],
    ['two neighbours swapped', 'lsiten', 'listen'],
    ['the wrong case', 'TrustedProxies', 'trustedProxies'],
    ['three slips in a long word', 'trustdproxie', 'trustedProxies'],
    ['one slip in a short word', 'lg', 'log'],
    ['words joined in another way', 'trusted_proxies', 'trustedProxies'],
  ]
  for (const [what, word, meant] of slips) t.equal(suggest(word, options), meant, what)
})

t.test('a word unlike any candidate suggests nothing', async (t) => {
  for (const word of ['', 'x', 'server', 'backends', 'loop', 'upstr']) {
    t.equal(suggest(word, options), undefined, word)
  }
  t.equal(suggest('listen', []), undefined)
})

t.test('the nearest candidate is suggested, the first of two as near', async (t) => {
  t.equal(suggest('GETT', ['PUT', 'GET']), 'GET')
  t.equal(suggest('ab', ['ac', 'ad']), 'ac')
})

t.test('a suggestion is worded as a question, and nothing is said without one', async (t) => {
  t.equal(didYouMean('rotes', options), ', did you mean "routes"?')
  t.equal(didYouMean('nothing like it', options), '')
})
