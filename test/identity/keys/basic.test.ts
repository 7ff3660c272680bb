import t from 'tap'
import { passwordOf } from '#identity/keys/basic.ts'

const basic = (text: string) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`

t.test('the password of Basic is all that follows the first colon', async (t) => {
  for (const [text, password] of [
    ['ada:key', 'key'],
    [':key', 'key'],
    ['ada:', ''],
    ['ada:a:b', 'a:b'],
    ['\u00e9\u00e8:k\u00e9y', 'k\u00e9y'],
    ['a:\0', '\0'],
  ] as const)
    t.equal(passwordOf(basic(text)), password, text)
  for (const spelling of ['basic', 'BASIC', 'Basic  ']) {
    t.equal(passwordOf(`${spelling} YTpi`), 'b', spelling)
  }
  t.equal(passwordOf('Basic YTpi '), 'b')
})

t.test('malformed credentials of Basic are an empty password', async (t) => {
  for (const value of [
    'Basic',
    'Basic ',
    'Basic YTpi YTpi',
    'Basic YTpi,YTpi',
    'Basic YWI=',
    'Basic YTo_',
    'Basic YTpiYg',
    'Basic YTpiYg=',
    'Basic YTpiYh==',
    'Basic YTpi====',
    'Basic =',
    'Basic a:b',
    'Basic\tYTpi',
    'Basic Y\u0141pi',
  ])
    t.equal(passwordOf(value), '', value)
})

t.test('the credentials of Basic are read up to 4096 characters', async (t) => {
  const ofLength = (length: number) => basic(`${'a'.repeat((length / 4) * 3 - 2)}:b`)
  t.equal(ofLength(4_096).length, 'Basic '.length + 4_096)
  t.equal(passwordOf(ofLength(4_096)), 'b')
  t.equal(passwordOf(ofLength(4_100)), '')
  t.equal(passwordOf(ofLength(4_000_000)), '')
})

t.test('another scheme is not Basic', async (t) => {
  for (const value of ['', 'Bearer YTpi', 'Basics YTpi', 'Basic-x YTpi', 'XBasic YTpi', ' Basic YTpi'])
    t.equal(passwordOf(value), undefined, value)
})
