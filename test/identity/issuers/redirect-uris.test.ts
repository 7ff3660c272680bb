import t from 'tap'
import { createRedirectUriCheck, isRedirectUri } from '#identity/issuers/redirect-uris.ts'

t.test('a redirect URI has a scheme of the web or of an application, and says nothing of a user', (t) => {
  for (const uri of [
    'https://app.example.com/',
    'http://localhost/callback',
    'http://127.0.0.1:1/x?y=z',
    'http://[::1]/',
    'com.example.app:/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    `https://a/${'x'.repeat(2_038)}`,
  ])
    t.equal(isRedirectUri(uri), true, uri.slice(0, 60))
  for (const uri of [
    '',
    'callback',
    '/callback',
    '//app.example.com/',
    'http://app.example.com/',
    'http://0.0.0.0/',
    'https://user:secret@app.example.com/',
    'https://app.example.com/#x',
    'https://app.example.com/#',
    'https://app.example.com/ä',
    'https://app.example.com/\n',
    ...[
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'blob:x',
      'about:blank',
    ],
    ...['file:///etc/passwd', 'ftp://a/', 'ws://a/', 'wss://a/', 'view-source:https://a/'],
    `https://a/${'x'.repeat(2_039)}`,
  ])
    t.equal(isRedirectUri(uri), false, uri.slice(0, 60))
  t.end()
})

t.test('only on this machine may the port be another one', (t) => {
  const mayReturnTo = createRedirectUriCheck({
    clientId: 'mcp',
    redirectUris: [
      'https://app.example.com/back',
      'http://localhost:3000/callback',
      'http://[::1]/',
      'a.b:/c',
    ],
  })
  for (const uri of [
    'https://app.example.com/back',
    'http://localhost/callback',
    'http://localhost:65535/callback',
    'http://[::1]:8080/',
    'http://[::1]:8080',
    'a.b:/c',
  ])
    t.equal(mayReturnTo(uri), true, uri)
  for (const uri of [
    'https://app.example.com:443/back',
    'https://app.example.com/back/',
    'http://localhost:3000/callback?x=y',
    'http://localhost:3000/Callback',
    'https://localhost:3000/callback',
    'http://127.0.0.1:3000/callback',
    'a.b:/d',
  ])
    t.equal(mayReturnTo(uri), false, uri)
  t.end()
})
