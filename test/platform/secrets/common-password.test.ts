import t from 'tap'
import { isCommonPassword, isMostlyPersonalData } from '#platform/secrets/common-password.ts'
import { passwordLength } from '#platform/secrets/passwords.ts'

const tables = {
  'a common word, whatever is put around it': [
    'password1234',
    'Password1234',
    'PASSWORD!!!!',
    '1234password',
    '!!Welcome2026!!',
    'iloveyou1234',
    'administrator',
    'Administrator',
    'changeme2026',
    'gatehouse1234',
    'sunshine-1990',
  ],
  'with signs for letters': ['P@ssw0rd1234', 'pa$$w0rd!234', 'passw0rd2026', 'Adm1n1strator'],
  'said again and again': ['passwordpassword', 'qwertyqwerty', 'Welcomewelcome1', 'testtesttesttest'],
  'a few characters again and again': ['aaaaaaaaaaaa', '121212121212', 'abcdabcdabcd', '😀'.repeat(12)],
  'keys in a row': [
    '123456789012',
    '987654321098',
    'abcdefghijkl',
    'qwertyuiop12',
    'qwertyuiopasdf',
    '1qaz2wsx3edc',
    '1q2w3e4r5t6y',
    'zxcvbnm,./12',
    'asdfgh123456',
    '123qweasdzxc',
    'poiuytrewq321',
    '111222333444',
    '112233445566',
    '12qw34er56ty',
    'qwaszxerdfcv',
    '102030405060',
    '!@#$%^&*()_+',
    'qwertyuiop'.repeat(3),
  ],
  // A compatibility form is the same password at sign-in.
  'in other code points': ['ｐａｓｓｗｏｒｄ1234'],
}

for (const [what, passwords] of Object.entries(tables)) {
  t.test(`a common password is refused: ${what}`, async (t) => {
    for (const password of passwords) t.equal(isCommonPassword(password), true, password)
  })
}

t.test('a password that merely contains a common word or key sequence is accepted', async (t) => {
  for (const password of [
    'correct horse battery',
    'my password is long',
    'passwordkangaroo',
    'three qwerty cats',
    'abcabdabeabf',
    'dQw4w9WgXcQ-8f!',
    '3f9c1b7e20ad',
    'пароль из слов',
    'administrators of',
    '123456 seven eight',
    'abcdeabcdfab',
  ]) {
    t.equal(isCommonPassword(password), false, password)
  }
})

t.test('the longest passwords are checked quickly', async (t) => {
  const { bytesMax } = passwordLength
  const cpuMs = () => process.threadCpuUsage().user / 1_000
  const beganMs = cpuMs()
  for (const part of ['a', 'abc', 'qwertyuiop', '123', '1qaz']) {
    const long = part.repeat(bytesMax).slice(0, bytesMax - 4)
    isCommonPassword(`${long}!x?y`)
    isMostlyPersonalData(long, { email: `${part}@${part}`, firstName: part, lastName: part })
  }
  t.ok(cpuMs() - beganMs < 250, 'a scan of all pairs takes a second')
})

t.test('a password made of little but the e-mail or names is refused', async (t) => {
  const owner = { email: 'Ada.Lovelace@Example.com', firstName: 'Ada', lastName: 'Lovelace' }
  for (const password of [
    'ada.lovelace@example.com',
    'ADA.LOVELACE',
    'lovelace-1815',
    'ada lovelace 1815',
    'lovelacelovelace',
    'lovelace1234567',
    'adaADAadaADA',
    'example.com123',
  ]) {
    t.equal(isMostlyPersonalData(password, owner), true, password)
  }
  for (const password of [
    'lovelace12345678',
    'dear lovelace, engine',
    'correct horse battery',
    '123456789012',
  ]) {
    t.equal(isMostlyPersonalData(password, owner), false, password)
  }
  const short = { email: 'al@x.io', firstName: 'Al', lastName: '' }
  t.equal(isMostlyPersonalData('al al al al al', short), false, 'two letters are in many a word')
})
