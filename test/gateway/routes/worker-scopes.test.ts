import t from 'tap'
import { createWorkerScopes } from '#gateway/routes/worker-scopes.ts'

t.test('a script reaches the portal from its folders, from those above, and from no other', async (t) => {
  const { isReachedFrom } = createWorkerScopes('/tools/portal')
  for (const path of ['/sw.js', '/', '/tools/sw.js', '/tools/', '/tools/portal', '/tools/portal/sw.js'])
    t.equal(isReachedFrom(path), true, path)
  for (const path of ['/app/sw.js', '/tools/other/sw.js', '/tools/portal2/sw.js', '/toolsportal/sw.js'])
    t.equal(isReachedFrom(path), false, path)
  t.equal(createWorkerScopes('/portal').isReachedFrom('/tools/sw.js'), false)
})

t.test(
  'Service-Worker-Allowed reaches the portal by any prefix of its path, however it is written',
  async (t) => {
    const { isReachedBy } = createWorkerScopes('/portal')
    const reaching = [
      ...[
        '/',
        '/p',
        '/po',
        '/portal',
        '/portal/',
        '/portal/keys',
        '../../',
        './..',
        '%2e%2e/',
        '..\\',
        ' / ',
      ],
      ...[
        '/%70ortal',
        '/%70',
        '/%',
        '//gateway.invalid/',
        'http://gateway.invalid/',
        'https://else.example/p',
        'http://[',
      ],
    ]
    for (const allowed of reaching) t.equal(isReachedBy(allowed, '/app/sw.js'), true, allowed)
    for (const allowed of ['/app/', '/app', './', '/x', 'js', '/app/%70', '/portals'])
      t.equal(isReachedBy(allowed, '/app/sw.js'), false, allowed)
  },
)
