import t from 'tap'
import { load, minimalConfig, problemMessages } from '../config-fixtures.ts'

t.test('publicUrl must be an origin', async (t) => {
  const origins: Readonly<Record<string, string>> = {
    'http://localhost:8080': 'http://localhost:8080',
    'https://api.example.com': 'https://api.example.com',
    'https://API.example.com:443/': 'https://api.example.com',
    'HTTPS://api.example.com': 'https://api.example.com',
    'http://[::1]:8080': 'http://[::1]:8080',
  }
  for (const [publicUrl, origin] of Object.entries(origins)) {
    const config = load(t, { ...minimalConfig, publicUrl })
    t.equal(config.publicOrigin, origin, publicUrl)
    t.equal(config.tokens.issuer, origin, 'and the issuer, unless that is given')
    t.equal(config.cookie.isSecure, origin.startsWith('https'), 'and decides whether the cookie is Secure')
  }
  const complaintsOf: Readonly<Record<string, string>> = {
    'api.example.com': 'must be a URL such as https://api.example.com',
    'ftp://api.example.com': 'must be a URL such as https://api.example.com',
    'https://user:hunter2@api.example.com': 'must not contain credentials',
    'http://localhost:0': 'must not have port 0: nobody can connect to it',
    'https://api.example.com/gateway': 'must be an origin: no path, query or fragment',
    'https://api.example.com/?a': 'must be an origin: no path, query or fragment',
  }
  for (const [publicUrl, complaint] of Object.entries(complaintsOf)) {
    t.strictSame(problemMessages(t, { ...minimalConfig, publicUrl }), [`publicUrl: ${complaint}`], publicUrl)
  }
})

t.test('a trusted proxy may be an address or a range', async (t) => {
  const trustedProxies = ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', 'fd00::/8', '::/0', '10.0.0.1/32']
  t.strictSame(load(t, { ...minimalConfig, trustedProxies }).trustedProxies, [
    { address: '10.0.0.1', bits: 32, family: 'ipv4' },
    { address: '10.0.0.0', bits: 8, family: 'ipv4' },
    { address: '0.0.0.0', bits: 0, family: 'ipv4' },
    { address: '::1', bits: 128, family: 'ipv6' },
    { address: 'fd00::', bits: 8, family: 'ipv6' },
    { address: '::', bits: 0, family: 'ipv6' },
    { address: '10.0.0.1', bits: 32, family: 'ipv4' },
  ])
})

t.test('a trusted proxy in the IPv6 form of IPv4 is the same in IPv4', async (t) => {
  const trustedProxies = ['::ffff:10.0.0.1', '::ffff:a00:0/104', '0:0::ffff:0:0/96', '::ffff:0:0/95']
  t.strictSame(load(t, { ...minimalConfig, trustedProxies }).trustedProxies, [
    { address: '10.0.0.1', bits: 32, family: 'ipv4' },
    { address: '10.0.0.0', bits: 8, family: 'ipv4' },
    { address: '0.0.0.0', bits: 0, family: 'ipv4' },
    { address: '::ffff:0:0', bits: 95, family: 'ipv6' },
  ])
})

t.test('each trusted proxy that is neither address nor range is reported at its place', async (t) => {
  const wrong = [
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.0/8/8',
    'fd00::/129',
    'fd00:::',
    'localhost',
    '10.0.0.1-10.0.0.9',
    '10.0.0.1:80',
    '*',
    'loopback',
    ' 10.0.0.1',
  ]
  const message = 'must be an address such as 10.0.0.1, or a range such as 10.0.0.0/8'
  t.strictSame(
    problemMessages(t, { ...minimalConfig, trustedProxies: ['10.0.0.1', ...wrong] }),
    wrong.map((_, index) => `trustedProxies[${index + 1}]: ${message}`),
  )
})
