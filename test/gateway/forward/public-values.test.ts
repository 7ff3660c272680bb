import t from 'tap'
import { publicValue } from '#gateway/forward/public-values.ts'

const context = {
  targetOrigin: 'http://10.0.0.11:3000',
  client: { protocol: 'https', host: 'api.example.com' },
  strippedPrefix: { own: '/orders', replacement: '', outer: '' },
}
const rewritten = {
  ...context,
  strippedPrefix: { own: '/realtime/v1', replacement: '/socket', outer: '/outer' },
}
const plain = { ...context, strippedPrefix: undefined }

t.test('the references of Link get the prefix back, quoted texts stay', async (t) => {
  for (const [sent, expected] of [
    ['</x>; rel="next"', '</orders/x>; rel="next"'],
    ['</a>; rel=prev, </b?c=</d>>; rel=next', '</orders/a>; rel=prev, </orders/b?c=</d>>; rel=next'],
    ['<http://10.0.0.11:3000/x>;rel=next', '<https://api.example.com/orders/x>;rel=next'],
    ['<https://cdn.example.com/x>; rel=preload', '<https://cdn.example.com/x>; rel=preload'],
    ['<x>; rel=next', '<x>; rel=next'],
    ['</x>; title="</y>", </z>', '</orders/x>; title="</y>", </orders/z>'],
    ['</x>; title="a\\"</y>", </z>', '</orders/x>; title="a\\"</y>", </orders/z>'],
    ['</x>; title="a\\', '</orders/x>; title="a\\'],
    ['</x', '</x'],
    ['', ''],
  ] as const)
    t.equal(publicValue('link', sent, context), expected, sent)
  t.equal(publicValue('link', '</socket/x>, </y>', rewritten), '</outer/realtime/v1/x>, </y>')
  t.equal(publicValue('link', '</x>, <//10.0.0.11:3000/y>', plain), '</x>, <//api.example.com/y>')
})

t.test('the URL of Refresh gets the prefix back, however it is written', async (t) => {
  for (const [sent, expected] of [
    ['5; url=/x', '5; url=/orders/x'],
    ['0;URL=/x?y=/z', '0;URL=/orders/x?y=/z'],
    ['5, url = "/x"; more', '5, url = "/orders/x"; more'],
    ["0;url='/x", "0;url='/orders/x"],
    ['5 /x', '5 /orders/x'],
    ['1.5;/x', '1.5;/orders/x'],
    ['0; url=http://10.0.0.11:3000/x', '0; url=https://api.example.com/orders/x'],
    ['0; url=https://other.example/x', '0; url=https://other.example/x'],
    ['0; url=x', '0; url=x'],
    ['5', '5'],
    ['', ''],
  ] as const)
    t.equal(publicValue('refresh', sent, context), expected, sent)
  t.equal(publicValue('refresh', '0;url=/socket/x', rewritten), '0;url=/outer/realtime/v1/x')
})

t.test('the Path of a cookie gets the prefix back, and nothing else of it changes', async (t) => {
  for (const [sent, expected] of [
    ['a=b; Path=/; HttpOnly', 'a=b; Path=/orders; HttpOnly'],
    ['a=/; path=/x', 'a=/; path=/orders/x'],
    ['a=b;PATH = /x/ ;Secure', 'a=b;PATH = /orders/x/;Secure'],
    ['path=/x; Path=/y', 'path=/x; Path=/orders/y'],
    ['a=b; Path=/orders/x', 'a=b; Path=/orders/x'],
    ['a=b; Path=x', 'a=b; Path=x'],
    ['a=b; Path=', 'a=b; Path='],
    ['a=b; MyPath=/x', 'a=b; MyPath=/x'],
    ['a=b', 'a=b'],
    // Browsers would drop it.
    ['__Host-a=b; Path=/; Secure', '__Host-a=b; Path=/; Secure'],
    ['__Secure-a=b; Path=/; Secure', '__Secure-a=b; Path=/orders; Secure'],
  ] as const)
    t.equal(publicValue('set-cookie', sent, context), expected, sent)
  for (const [sent, expected] of [
    ['a=b; Path=/socket', 'a=b; Path=/outer/realtime/v1'],
    ['a=b; Path=/socket/x', 'a=b; Path=/outer/realtime/v1/x'],
    ['a=b; Path=/', 'a=b; Path=/'],
    ['a=b; Path=/sockets', 'a=b; Path=/sockets'],
  ] as const)
    t.equal(publicValue('set-cookie', sent, rewritten), expected, sent)
  t.equal(publicValue('set-cookie', 'a=b; Path=/x', plain), 'a=b; Path=/x')
})

t.test('long values cost no more than their length', async (t) => {
  const start = performance.now()
  for (const value of [
    '<'.repeat(60_000),
    '</x>,'.repeat(12_000),
    '"\\'.repeat(30_000),
    '; path=/'.repeat(8_000),
    ' '.repeat(60_000),
  ])
    for (const name of ['link', 'refresh', 'set-cookie']) publicValue(name, value, context)
  t.ok(performance.now() - start < 2_000)
})
