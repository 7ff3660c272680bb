import { generateKeyPairSync, hash, type KeyObject, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { calculateJwkThumbprint, exportJWK, type JWTPayload, SignJWT } from 'jose'
import type { Bench } from '../bench.ts'
import type { Subject } from '../subjects/subject.ts'
import { loadFigures, measureLoad } from './load-figures.ts'
import { numbered, withTokens, writeRequest } from './requests.ts'
import type { Contestant, Scenario } from './scenario.ts'

const ours = 'our tokens'
const issuer = 'https://id.example.com'
const tokenCount = 200

/** What a token of a foreign issuer costs that was seen before. */
export const foreignTokens: Scenario = {
  summary: 'Small GET with a bearer token: those of a foreign issuer beside ours',
  figures: loadFigures,
  compared: 'cpuUs',
  yardsticks: [ours, `${ours}, each head another`],
  note:
    '200 tokens in turn, each of another account or user, ES256, in one process: all have been seen before. Ours come ' +
    'to a route of theirs alone, and to the one that takes both. `each head ' +
    'another`: each request has a field with a new number, so that no head is cached. A proof is signed with ES256 for ' +
    'each request, and verified once.',
  async open(bench) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const subject = await bench.gateway(bench.gateways[0], { config: configOf(publicKey) })
    const ways = [
      [ours, 'GET /ours', subject.credentials.accessTokens],
      [`${ours} beside an issuer`, 'GET /any', subject.credentials.accessTokens],
      ['foreign tokens', 'GET /any', await signTokens(privateKey)],
    ] as const
    const found = ways.flatMap(([name, line, tokens]) =>
      waysOf(bench, name, { subject, requests: withTokens(line, tokens) }),
    )
    return [...found, await openProofs(bench, subject, privateKey)]
  },
}

/** More than can be sent in a turn: a proof that comes twice is refused. */
const proofsEach = (durationMs: number) => durationMs * 15

async function openProofs(bench: Bench, subject: Subject, issuerKey: KeyObject): Promise<Contestant> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = await exportJWK(publicKey)
  const tokens = await signTokens(issuerKey, { cnf: { jkt: await calculateJwkThumbprint(jwk) } })
  const hashes = tokens.map((token) => hash('sha256', token, 'base64url'))

  async function write(index: number): Promise<string> {
    const place = index % tokens.length
    const proof = await new SignJWT({ htm: 'GET', htu: 'http://bench.example/any', ath: hashes[place] })
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
      .setJti(randomUUID())
      .setIssuedAt()
      .sign(privateKey)
    return writeRequest('GET /any', { Authorization: `DPoP ${tokens[place]}`, DPoP: proof })
  }

  return {
    name: 'foreign tokens, each with a proof (DPoP)',
    measure: async () => {
      const count = proofsEach(bench.options.durationMs)
      const requests = await Promise.all(Array.from({ length: count }, (_, index) => write(index)))
      return measureLoad(bench, subject, { requests })
    },
  }
}

function waysOf(
  bench: Bench,
  name: string,
  {
    subject,
    requests,
  }: {
    readonly subject: Parameters<typeof measureLoad>[1]
    readonly requests: ReturnType<typeof withTokens>
  },
): readonly Contestant[] {
  return [
    { name, measure: () => measureLoad(bench, subject, { requests }) },
    { name: `${name}, each head another`, measure: () => measureLoad(bench, subject, numbered(requests)) },
  ]
}

const route = { upstream: 'backend', auth: 'any', maxBody: 'unlimited' }

function configOf(publicKey: KeyObject): object {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-issuer-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'jwks.json')
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }
  writeFileSync(file, JSON.stringify({ keys: [jwk] }))
  return {
    issuers: [{ name: 'corp', issuer, audience: 'orders', jwks: { file } }],
    routes: [
      { ...route, name: 'ours', path: '/ours' },
      { ...route, name: 'any', path: '/any', issuers: ['corp'] },
    ],
  }
}

function signTokens(privateKey: KeyObject, claims: JWTPayload = {}): Promise<readonly string[]> {
  return Promise.all(
    Array.from({ length: tokenCount }, (_, index) =>
      new SignJWT({ scope: '', ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one', typ: 'at+jwt' })
        .setIssuer(issuer)
        .setAudience('orders')
        .setSubject(`248289761${index}`)
        .setJti(`6f5c1c0e-5f1b-4f6e-9a2f-${index}`)
        .setIssuedAt()
        .setExpirationTime('24h')
        .sign(privateKey),
    ),
  )
}
