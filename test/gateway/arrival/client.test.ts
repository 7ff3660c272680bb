import t from 'tap'
import { type ClientClaims, readClient } from '#gateway/arrival/client.ts'
import { createAddressSet, parseAddressRange, unmappedAddress } from '#platform/addresses.ts'

function trust(...ranges: readonly string[]) {
  return createAddressSet(
    ranges.map((text) => {
      const range = parseAddressRange(text)
      if (!range) throw new Error(`${text} is no range`)
      return range
    }),
  )
}

const peer = { peerAddress: '10.0.0.1', protocol: 'http' } as const
const host = 'gateway.example'
const claims: ClientClaims = {
  forwardedFor: undefined,
  forwardedProto: undefined,
  forwardedHost: undefined,
}

const claimed = {
  forwardedFor: '203.0.113.7',
  forwardedProto: 'https',
  forwardedHost: 'public.example',
} satisfies Partial<ClientClaims>

t.test('without trusted proxies no forwarding header is believed', async (t) => {
  for (const trusted of [trust(), trust('192.168.0.0/16')]) {
    t.strictSame(readClient(peer, host, { ...claims, ...claimed }, trusted), {
      address: '10.0.0.1',
      isTrusted: false,
      forwardedFor: '10.0.0.1',
      protocol: 'http',
      host: 'gateway.example',
    })
  }
})

t.test('a trusted proxy is believed, and its own address joins the list', async (t) => {
  t.strictSame(readClient(peer, host, { ...claims, ...claimed }, trust('10.0.0.0/8')), {
    address: '203.0.113.7',
    isTrusted: true,
    forwardedFor: '203.0.113.7, 10.0.0.1',
    protocol: 'https',
    host: 'public.example',
  })
})

t.test('a trusted proxy that claims nothing is the client itself', async (t) => {
  t.strictSame(readClient(peer, host, claims, trust('10.0.0.0/8')), {
    address: '10.0.0.1',
    isTrusted: true,
    forwardedFor: '10.0.0.1',
    protocol: 'http',
    host: 'gateway.example',
  })
})

/** With 10.0.0.0/8 and fd00::/8 trusted, from 10.0.0.1. */
const lists: readonly (readonly [what: string, forwardedFor: string, address: string])[] = [
  ['one client', '203.0.113.7', '203.0.113.7'],
  ['a client that claims to be another', '1.1.1.1, 203.0.113.7', '203.0.113.7'],
  ['several trusted proxies', '203.0.113.7, 10.0.0.3,10.0.0.2', '203.0.113.7'],
  ['a client that claims to be a trusted proxy', '10.9.9.9, 203.0.113.7, 10.0.0.2', '203.0.113.7'],
  ['nothing but trusted proxies', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['garbage', 'garbage', '10.0.0.1'],
  ['garbage left of the client', "'; DROP TABLE, 203.0.113.7", '203.0.113.7'],
  ['garbage behind a trusted proxy', '203.0.113.7, garbage, 10.0.0.2', '10.0.0.2'],
  ['an empty list', '', '10.0.0.1'],
  ['empty members', ' , ,203.0.113.7', '203.0.113.7'],
  ['an empty member at the end', '203.0.113.7,', '10.0.0.1'],
  ['tabs and spaces', '\t203.0.113.7 \t', '203.0.113.7'],
  ['IPv6', '2001:db8::7', '2001:db8::7'],
  ['IPv6 behind a trusted IPv6 proxy', '2001:db8::7, fd00::2', '2001:db8::7'],
  ['an IPv4 address in IPv6 form', '::ffff:203.0.113.7', '203.0.113.7'],
  ['a trusted IPv4 address in IPv6 form', '203.0.113.7, ::ffff:10.0.0.2', '203.0.113.7'],
  ['an IPv4 address with its port', '203.0.113.7:50123', '203.0.113.7'],
  ['an IPv6 address in brackets', '[2001:db8::7]', '2001:db8::7'],
  ['an IPv6 address with its port', '[2001:db8::7]:50123', '2001:db8::7'],
  ['a trusted address with its port', '203.0.113.7:1, 10.0.0.2:2', '203.0.113.7'],
  ['an IPv4 address in IPv6 form, with its port', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['an IPv6 address whose end might be a port', '2001:db8::7:443', '2001:db8::7:443'],
  ['an IPv4 address in brackets', '[203.0.113.7]', '10.0.0.1'],
  ['brackets with no address', '[203.0.113.7:80]', '10.0.0.1'],
  ['a port that is no number', '203.0.113.7:http', '10.0.0.1'],
  ['a port of too many digits', '203.0.113.7:500000', '10.0.0.1'],
  ['a port without an address', ':443', '10.0.0.1'],
  ['a name with a port', 'localhost:80', '10.0.0.1'],
  ['a number that is no address', '203.0.113.777', '10.0.0.1'],
  ['an address of three parts', '10.1', '10.0.0.1'],
  ['unknown, as RFC 7239 has it', 'unknown', '10.0.0.1'],
]

t.test('the client is the first address from the right that is no trusted proxy', async (t) => {
  const trusted = trust('10.0.0.0/8', 'fd00::/8')
  for (const [what, forwardedFor, address] of lists) {
    const client = readClient(peer, host, { ...claims, forwardedFor }, trusted)
    t.equal(client.address, address, what)
    t.equal(client.forwardedFor, `${forwardedFor}, 10.0.0.1`, what)
  }
})

t.test('a trusted range is matched in IPv4, in IPv6 and across both, to the bit', async (t) => {
  const trusted = trust('10.1.0.0/16', '192.0.2.5', '2001:db8::/33', '::1')
  const inside = ['10.1.0.0', '10.1.255.255', '192.0.2.5', '2001:db8:7fff::1', '::1', '::ffff:10.1.2.3']
  const outside = [
    '10.2.0.0',
    '10.0.255.255',
    '192.0.2.4',
    '2001:db8:8000::',
    '::2',
    '::ffff:10.2.0.0',
    '',
    'x',
    'fe80::1%eth0',
  ]
  for (const address of inside) t.equal(trusted.has(address), true, address)
  for (const address of outside) t.equal(trusted.has(address), false, address)
})

t.test('a range of all addresses trusts them all', async (t) => {
  const trusted = trust('0.0.0.0/0', '::/0')
  for (const address of ['1.2.3.4', '255.255.255.255', '2001:db8::1']) t.equal(trusted.has(address), true)
  t.equal(readClient(peer, host, { ...claims, ...claimed }, trusted).address, '203.0.113.7')
})

t.test('an IPv4 address in IPv6 form is written as IPv4, other addresses stay', async (t) => {
  for (const address of [
    '::ffff:1.2.3.4',
    '::FFFF:1.2.3.4',
    '0:0:0:0:0:ffff:1.2.3.4',
    '::0:ffff:1.2.3.4',
    '::ffff:102:304',
    '::ffff:0102:0304',
    '0000:0000:0000:0000:0000:FFFF:0102:0304',
  ]) {
    t.equal(unmappedAddress(address), '1.2.3.4', address)
  }
  t.equal(unmappedAddress('::ffff:cb00:71ff'), '203.0.113.255')
  for (const address of [
    '1.2.3.4',
    '::1',
    '2001:db8::ffff:1',
    '2001:db8::ffff:102:304',
    '::ffff:0:102:304',
    '',
    '::ffff:1.2.3',
    '0:ffff:1.2.3.4',
    '::ffff:1.2.3.400',
    'ffff::1.2.3.4',
    '::ffff:',
  ]) {
    t.equal(unmappedAddress(address), address, address)
  }
})

t.test(
  'X-Forwarded-Proto and -Host of a chain are read as their first value, nonsense ignored',
  async (t) => {
    // Location is made of them: `https, http://…` would be no address at all.
    const trusted = trust('10.0.0.0/8')
    const chained = {
      ...claims,
      forwardedProto: 'https, http',
      forwardedHost: 'public.example, inner.example',
    }
    t.hasStrict(readClient(peer, host, chained, trusted), { protocol: 'https', host: 'public.example' })
    t.hasStrict(readClient(peer, host, { ...claims, forwardedProto: '', forwardedHost: '' }, trusted), {
      protocol: 'http',
      host: 'gateway.example',
    })
    t.hasStrict(readClient(peer, host, { ...claims, forwardedProto: 'java script' }, trusted), {
      protocol: 'http',
    })
  },
)
