import t from 'tap'
import { copyString, sharedCopy } from '#platform/copy-string.ts'

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
    t.equal(sharedCopy(text, undefined), text)
  }
})

t.test('a text that is kept already is shared', async (t) => {
  const kept = 'Łódź'
  t.equal(sharedCopy('Łódź', kept), kept)
  t.equal(sharedCopy('other', kept), 'other')
})
