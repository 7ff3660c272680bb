import { createServer } from 'node:net'
import t from 'tap'
import { listen } from '#gateway/server/listen.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { runUnprivileged } from '../setup/run-unprivileged.ts'

t.test('a privileged port that cannot be bound is reported with the capability to grant', async (t) => {
  const server = createServer()
  const failure = await runUnprivileged(() =>
    listen(server, { host: '127.0.0.1', port: 80 }, 'listen.port').catch((error: unknown) => error),
  )
  server.close()
  // Where the system lets everybody have it, it is had or in use.
  const isRefused = failure instanceof OperatorError && failure.message.includes('permission denied')
  if (!isRefused) return void t.pass('refused', { skip: `anybody may have the port: ${failure}` })
  t.match(failure, {
    message: 'cannot listen on 127.0.0.1:80: permission denied',
    hint: 'Choose another address with listen.port in the config, or grant CAP_NET_BIND_SERVICE; port 0 picks a free port.',
  })
})
