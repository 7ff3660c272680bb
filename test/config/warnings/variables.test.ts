import t, { type Test } from 'tap'
import { formatProblem } from '#config/problem.ts'
import { findWarnings } from '#config/warnings/find-warnings.ts'
import { createOwnPaths } from '#gateway/routes/own-paths.ts'
import { minimalConfig, read } from '../config-fixtures.ts'

function warnings(t: Test, env: Readonly<Record<string, string>>): readonly string[] {
  const reading = read(t, minimalConfig, { env })
  t.strictSame(reading.problems, [])
  return findWarnings(reading, createOwnPaths(reading.tree.portal), { env }).map(formatProblem)
}

const missed = [
  ['GATEHOUSE_LISTEN_PORT', '80', 'listen.port', 'GATEHOUSE__LISTEN__PORT'],
  ['GATEHOUSE_LISTEN__PORT', '80', 'listen.port', 'GATEHOUSE__LISTEN__PORT'],
  ['GATEHOUSE_PUBLIC_URL', 'https://a.example', 'publicUrl', 'GATEHOUSE__PUBLIC_URL'],
  ['GATEHOUSE_KEYS_SEALING_KEY_FILE', '/k', 'keys.sealingKey.file', 'GATEHOUSE__KEYS__SEALING_KEY__FILE'],
  ['GATEHOUSE_UPSTREAMS_BACKEND_CONNECTIONS', '9', 'upstreams.backend.connections', ''],
  ['GATEHOUSE_CORS_ORIGINS', '[]', 'cors.origins', 'GATEHOUSE__CORS__ORIGINS'],
] as const

for (const [name, value, option, meant] of missed) {
  t.test(`the misspelt variable ${name} is warned of, with the name that is read`, async (t) => {
    const shouldBe = meant || 'GATEHOUSE__UPSTREAMS__BACKEND__CONNECTIONS'
    t.strictSame(warnings(t, { [name]: value }), [
      `$${name}  ${option}: is not set by this variable, did you mean ${shouldBe}?`,
    ])
    t.strictSame(
      warnings(t, { [shouldBe]: value })
        .join()
        .includes('did you mean'),
      false,
    )
  })
}

t.test('variables of other programs are not warned of', async (t) => {
  const ofKubernetes = {
    GATEHOUSE_SERVICE_HOST: '10.0.0.1',
    GATEHOUSE_SERVICE_PORT: '8080',
    GATEHOUSE_SERVICE_PORT_HTTP: '8080',
    GATEHOUSE_PORT: 'tcp://10.0.0.1:8080',
    GATEHOUSE_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    GATEHOUSE_PORT_8080_TCP_ADDR: '10.0.0.1',
    GATEHOUSE_OPS_SERVICE_HOST: '10.0.0.2',
    GATEHOUSE_OPS_PORT: 'tcp://10.0.0.2:9090',
    GATEHOUSE_OPS_PORT_9090_TCP_PROTO: 'tcp',
  }
  t.strictSame(warnings(t, ofKubernetes), [])
  const many = `GATEHOUSE_${'A_'.repeat(1_000)}B`
  const others = {
    GATEHOUSE_CONFIG: '/x',
    GATEHOUSE_VERSION: '2',
    GATEHOUSE_STORE: 'x',
    GATEHOUSE_: 'x',
    [many]: '',
  }
  t.strictSame(warnings(t, others), [])
})
