import t from 'tap'
import { withoutPrefixInIf } from '#gateway/forward/stripped-prefix.ts'

const dav = { own: '/dav', replacement: '' }

t.test('resources of If lose a stripped prefix, tokens and entity tags nothing', async (t) => {
  for (const [sent, forwarded] of [
    ['(<urn:uuid:1>)', '(<urn:uuid:1>)'],
    ['</dav/a> (<urn:uuid:1>)', '</a> (<urn:uuid:1>)'],
    [
      '<http://gateway.test/dav/a> (<urn:uuid:1> ["/dav/"])',
      '<http://gateway.test/a> (<urn:uuid:1> ["/dav/"])',
    ],
    [
      '<HTTPS://gateway.test:8443/dav> (Not <DAV:no-lock>)',
      '<HTTPS://gateway.test:8443/> (Not <DAV:no-lock>)',
    ],
    ['</dav/a> (<x>) </dav/b?y=/dav/c> (["e"])', '</a> (<x>) </b?y=/dav/c> (["e"])'],
    // Within a list, whatever quotes and brackets it has.
    ['</dav/a> (["("] </dav/b> ["\\)"]) </dav/c> (<x>)', '</a> (["("] </dav/b> ["\\)"]) </c> (<x>)'],
    ['(</dav/a>) </dav/b> (<x>)', '(</dav/a>) </b> (<x>)'],
    // Of other paths, and what is no resource.
    ['</davs/a> (<x>) </other/dav/a> (<x>)', '</davs/a> (<x>) </other/dav/a> (<x>)'],
    ['<ftp://a/dav/a> (<x>)', '<ftp://a/dav/a> (<x>)'],
    ['<dav/a> (<x>)', '<dav/a> (<x>)'],
    ['</dav/a (<x', '</dav/a (<x'],
    ['', ''],
  ] as const)
    t.equal(withoutPrefixInIf(sent, dav), forwarded, sent)
})

t.test('a long value without an end costs no more than its length', async (t) => {
  const value = '/dav<'.repeat(10_000)
  const start = performance.now()
  t.equal(withoutPrefixInIf(value, dav), value)
  t.ok(performance.now() - start < 2_000)
})

t.test('resources of an If get what the backend sees in place of the prefix', async (t) => {
  const prefix = { own: '/dav', replacement: '/remote.php' }
  for (const [sent, forwarded] of [
    ['</dav/a> (<x>)', '</remote.php/a> (<x>)'],
    ['<http://h/dav> (<x>)', '<http://h/remote.php> (<x>)'],
    ['</davs/a> (<x>)', '</davs/a> (<x>)'],
  ] as const)
    t.equal(withoutPrefixInIf(sent, prefix), forwarded, sent)
})
