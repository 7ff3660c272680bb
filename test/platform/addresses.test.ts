import { BlockList, isIPv6 } from 'node:net'
import t from 'tap'
import { clientNetwork, createAddressSet, parseAddressRange, widerNetwork } from '#platform/addresses.ts'
import { createRandom } from '../http/outgoing/random.ts'

const networks: Readonly<Record<string, readonly [network: string, wider: string]>> = {
  '203.0.113.7': ['203.0.113.7', '203.0.113.0/24'],
  '203.0.113.0': ['203.0.113.0', '203.0.113.0/24'],
  '203.0.113.255': ['203.0.113.255', '203.0.113.0/24'],
  '203.0.114.0': ['203.0.114.0', '203.0.114.0/24'],
  '0.0.0.0': ['0.0.0.0', '0.0.0.0/24'],
  '255.255.255.255': ['255.255.255.255', '255.255.255.0/24'],
  '2001:db8::': ['2001:db8:0:0::/64', '2001:db8:0:0::/56'],
  '2001:db8::1': ['2001:db8:0:0::/64', '2001:db8:0:0::/56'],
  '2001:db8::ffff:1': ['2001:db8:0:0::/64', '2001:db8:0:0::/56'],
  '2001:db8:0:0:ffff:ffff:ffff:ffff': ['2001:db8:0:0::/64', '2001:db8:0:0::/56'],
  '2001:db8:0:1::': ['2001:db8:0:1::/64', '2001:db8:0:0::/56'],
  '2001:db8:0:ff:ffff:ffff:ffff:ffff': ['2001:db8:0:ff::/64', '2001:db8:0:0::/56'],
  '2001:db8:0:100::': ['2001:db8:0:100::/64', '2001:db8:0:100::/56'],
  '2001:db8:0:12ff::9': ['2001:db8:0:12ff::/64', '2001:db8:0:1200::/56'],
  '1:2:3:4:5:6:7:8': ['1:2:3:4::/64', '1:2:3:0::/56'],
  '1:2:3:4:5:6:7::': ['1:2:3:4::/64', '1:2:3:0::/56'],
  '1:2:3::4:5:6:7': ['1:2:3:0::/64', '1:2:3:0::/56'],
  '1::fff4:5:6:7:8': ['1:0:0:fff4::/64', '1:0:0:ff00::/56'],
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff': ['ffff:ffff:ffff:ffff::/64', 'ffff:ffff:ffff:ff00::/56'],
  '::': ['0:0:0:0::/64', '0:0:0:0::/56'],
  '::1': ['0:0:0:0::/64', '0:0:0:0::/56'],
  'fe80::a%eth0': ['fe80:0:0:0::/64', 'fe80:0:0:0::/56'],
  '::192.0.2.1': ['0:0:0:0::/64', '0:0:0:0::/56'],
  '1:2:3:4:5:6:192.0.2.1': ['1:2:3:4::/64', '1:2:3:0::/56'],
  '::ffff:192.0.2.1': ['192.0.2.1', '192.0.2.0/24'],
  '::FFFF:c000:2ff': ['192.0.2.255', '192.0.2.0/24'],
  '0:0:0:0:0:ffff:c000:201': ['192.0.2.1', '192.0.2.0/24'],
  '::fffe:192.0.2.1': ['0:0:0:0::/64', '0:0:0:0::/56'],
  '1::ffff:192.0.2.1': ['1:0:0:0::/64', '1:0:0:0::/56'],
}

t.test('an IPv4 address is its own client network, an IPv6 address its /64', async (t) => {
  for (const [address, [network]] of Object.entries(networks)) {
    t.equal(clientNetwork(address), network, address)
  }
})

t.test('the wider network of an address is its /24, or for IPv6 its /56', async (t) => {
  for (const [address, [, wider]] of Object.entries(networks)) t.equal(widerNetwork(address), wider, address)
})

t.test('every spelling of one IPv6 address is one client network', async (t) => {
  const spellings = [
    '2001:db8:0:a::1',
    '2001:DB8:0:A::1',
    '2001:0db8:0000:000a:0000:0000:0000:0001',
    '2001:db8::a:0:0:0:1',
    '2001:db8:0:a:0:0:0.0.0.1',
    '2001:db8:0:a::1%1',
  ]
  for (const address of spellings) t.equal(clientNetwork(address), '2001:db8:0:a::/64', address)
  for (const address of spellings) t.equal(widerNetwork(address), '2001:db8:0:0::/56', address)
})

t.test('a client network has at most 24 characters, however long the zone of its address', async (t) => {
  const address = `ffff:ffff:ffff:ffff::1%${'z'.repeat(100_000)}`
  t.equal(clientNetwork(address), 'ffff:ffff:ffff:ffff::/64')
  t.equal(widerNetwork(address), 'ffff:ffff:ffff:ff00::/56')
})

t.test('a text that is not an address is its own client network', async (t) => {
  for (const text of ['', 'unknown', '1.2.3', '1.2.3.4.5', ':::', '12345::']) {
    t.equal(clientNetwork(text), text, text)
    t.equal(widerNetwork(text), text, text)
  }
})

t.test('a set contains what the ranges of a BlockList contain', async (t) => {
  const random = createRandom(Number(process.env.SEED ?? 47))
  const octets = [0, 1, 10, 99, 127, 128, 254, 255]
  const pickAddress = () => Array.from({ length: 4 }, () => random.pick(octets)).join('.')
  const wide = ['::/0', '::/80', '::ffff:0:0/95', '::ffff:10.0.0.0/104', '2001:db8::/32']
  for (let round = 0; round < 500; round++) {
    const texts = [`${pickAddress()}/${random.below(33)}`, `${pickAddress()}/${random.below(33)}`]
    if (random.below(4) === 0) texts.push(random.pick(wide))
    const ranges = texts.flatMap((text) => parseAddressRange(text) ?? [])
    const list = new BlockList()
    for (const { address, bits, family } of ranges) list.addSubnet(address, bits, family)
    const set = createAddressSet(ranges)
    for (const address of [
      ...Array.from({ length: 20 }, pickAddress),
      '2001:db8::1',
      '::1',
      '::ffff:10.1.2.3',
    ])
      if (set.has(address) !== list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4'))
        t.fail(`${address} in ${texts}`)
  }
  const every = createAddressSet([{ address: '0.0.0.0', bits: 0, family: 'ipv4' }])
  for (const text of [
    '01.2.3.4',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1..2.3',
    '1.2.3.4.',
    ' 1.2.3.4',
    '',
    'x',
  ])
    t.notOk(every.has(text), `${text} is no address`)
})
