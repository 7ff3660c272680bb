import t from 'tap'
import { exchange, head, headLengthMax, requestBytes, tryAll } from './support/cost.ts'
import { startWithAll } from './support/gateway-with-all.ts'

/** A description holds the fields of the request beside its own: twice as much. */
const lengthMax = 2 * headLengthMax

t.test('no description of a request keeps the event loop of the decide listener for long', async (t) => {
  const { decideUrl } = await startWithAll(t)
  const described = {
    Host: 'decide.test',
    'X-Forwarded-Method': 'GET',
    'X-Forwarded-Host': 'gateway.test',
    'X-Forwarded-Uri': '/browser',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '192.0.2.1',
  }
  const names = [
    ...Object.keys(described),
    'Cookie',
    'Authorization',
    'Origin',
    'Accept',
    'X-Request-Id',
    'Connection',
  ]
  await tryAll(t, names, { length: lengthMax }, (name, text) => {
    const lines = Object.entries({ Accept: 'text/html', ...described, [name]: text }).map((pair) =>
      pair.join(': '),
    )
    return exchange(decideUrl, requestBytes(['GET /decide HTTP/1.1', ...lines]))
  })
  await tryAll(t, ['/public/', '/other/', '/browser?'], { length: lengthMax }, (uri, text) => {
    const lines = Object.entries({ ...described, 'X-Forwarded-Uri': uri + text }).map((pair) =>
      pair.join(': '),
    )
    return exchange(decideUrl, requestBytes(['GET /decide HTTP/1.1', ...lines]))
  })
  await tryAll(t, ['/envoy/', '/envoy/public/', '/decide?', '/'], { length: lengthMax }, (target, text) =>
    exchange(decideUrl, requestBytes([`GET ${target}${text} HTTP/1.1`, 'Host: gateway.test'])),
  )
})

t.test('no request keeps the event loop of the listener for operators for long', async (t) => {
  const { opsUrl } = await startWithAll(t)
  const names = ['Host', 'Origin', 'Accept', 'Accept-Encoding', 'Sec-Fetch-Site', 'If-None-Match', 'Cookie']
  await tryAll(t, names, head, (name, text) => {
    const lines = name === 'Host' ? [] : ['Host: 127.0.0.1']
    return exchange(opsUrl, requestBytes(['GET /livez HTTP/1.1', ...lines, `${name}: ${text}`]))
  })
  await tryAll(t, ['/', '/livez?', '/livez/'], head, (target, text) =>
    exchange(opsUrl, requestBytes([`GET ${target}${text} HTTP/1.1`, 'Host: 127.0.0.1'])),
  )
})
