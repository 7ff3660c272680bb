import t from 'tap'
import { parse } from 'yaml'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import { load, minimalConfig, type Options } from '../../config/config-fixtures.ts'
import { snippetsOf } from '../../docs/snippets.ts'
import { openFileIssuers } from './file-issuers.ts'
import { newIssuerKey, signToken } from './issuer-server.ts'

const nowS = Math.floor(Date.now() / 1_000)
const times = { iat: nowS, nbf: nowS, exp: nowS + 300 }
const key = await newIssuerKey('cc413527-173f-5a05-976e-9c52b1d7b431', 'RS256')

interface Published {
  readonly heading: string
  /** As the issuer documents it, with the values of the recipe. */
  readonly header: Options
  readonly claims: Options
  readonly principalId: string
  readonly role?: string
  /** What differs in tokens of others, or that were made for another purpose. */
  readonly refused: readonly Options[]
}

const github: Options = {
  jti: 'example-id',
  sub: 'repo:acme/shop:ref:refs/heads/main',
  aud: 'https://gateway.example.com',
  ref: 'refs/heads/main',
  sha: 'example-sha',
  repository: 'acme/shop',
  repository_owner: 'acme',
  actor_id: '12',
  repository_visibility: 'private',
  repository_id: '74',
  repository_owner_id: '583231',
  run_id: 'example-run-id',
  run_number: '10',
  run_attempt: '2',
  runner_environment: 'github-hosted',
  actor: 'octocat',
  workflow: 'example-workflow',
  head_ref: '',
  base_ref: '',
  event_name: 'push',
  ref_type: 'branch',
  job_workflow_ref: 'acme/shop/.github/workflows/deploy.yml@refs/heads/main',
  iss: 'https://token.actions.githubusercontent.com',
}

const published: readonly Published[] = [
  {
    heading: 'GitHub Actions',
    header: { typ: 'JWT', x5t: 'example-thumbprint' },
    claims: github,
    principalId: 'github:repo:acme/shop:ref:refs/heads/main',
    refused: [
      { repository: 'acme/other', sub: 'repo:acme/other:ref:refs/heads/main' },
      { repository: 'acme/shop-evil' },
      { repository: 'evil/shop' },
      { repository: 'ACME/shop' },
      { repository: undefined },
      { repository_owner_id: '583232' },
      { repository_owner_id: undefined },
      { ref: 'refs/pull/7/merge', event_name: 'pull_request' },
      { ref: 'refs/heads/main2' },
      { aud: 'https://github.com/acme' },
      { iss: 'https://token.actions.githubusercontent.com/acme' },
    ],
  },
  {
    heading: 'GitHub Actions',
    header: { typ: 'JWT', x5t: 'example-thumbprint' },
    claims: {
      ...github,
      sub: 'repo:acme/tools:environment:production',
      repository: 'acme/tools',
      ref: 'refs/tags/v1.2.3',
      ref_type: 'tag',
      environment: 'production',
    },
    principalId: 'github:repo:acme/tools:environment:production',
    role: 'Deployer',
    refused: [{ ref: 'refs/tags/1.2.3' }],
  },
  {
    heading: 'GitLab CI',
    header: { typ: 'JWT' },
    claims: {
      namespace_id: '72',
      namespace_path: 'acme',
      project_id: '20',
      project_path: 'acme/shop',
      user_id: '1',
      user_login: 'sample-user',
      user_email: 'sample-user@example.com',
      user_identities: [{ provider: 'github', extern_uid: '2435223452345' }],
      pipeline_id: '574',
      pipeline_source: 'push',
      job_id: '302',
      ref: 'main',
      ref_type: 'branch',
      ref_path: 'refs/heads/main',
      ref_protected: 'true',
      groups_direct: ['mygroup/mysubgroup'],
      environment: 'test-environment2',
      environment_protected: 'false',
      deployment_tier: 'testing',
      runner_id: 1,
      runner_environment: 'self-hosted',
      sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
      project_visibility: 'public',
      ci_config_ref_uri: 'gitlab.com/acme/shop//.gitlab-ci.yml@refs/heads/main',
      ci_config_sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
      jti: '235b3a54-b797-45c7-ae9a-f72d7bc6ef5b',
      iss: 'https://gitlab.com',
      sub: 'project_path:acme/shop:ref_type:branch:ref:main',
      aud: 'https://gateway.example.com',
    },
    principalId: 'gitlab:project_path:acme/shop:ref_type:branch:ref:main',
    refused: [
      { project_path: 'evil/shop' },
      { project_path: 'acme/tools' },
      { ref_protected: 'false' },
      { ref_protected: undefined },
      { ref_type: 'tag' },
      { aud: 'https://gitlab.com' },
    ],
  },
  {
    heading: 'Clerk',
    header: { typ: 'JWT', cat: 'cl_B7d4PD111AAA' },
    claims: {
      azp: 'https://app.example.com',
      fva: [6, -1],
      iss: 'https://clerk.example.com',
      sid: 'sess_2GaMqUCB3Sc1WNAkWuNzsnYVVEy',
      sub: 'user_2GZBhyfR1uhyJAxYZcZvcZsVeSN',
      sts: 'active',
      v: 2,
    },
    principalId: 'clerk:user_2GZBhyfR1uhyJAxYZcZvcZsVeSN',
    refused: [
      { azp: 'https://other.example.com' },
      { azp: 'https://app.example.com.evil.example' },
      { azp: undefined },
      { azp: null },
      { azp: { 'https://app.example.com': true } },
    ],
  },
  {
    heading: 'Cognito',
    header: {},
    claims: {
      sub: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      device_key: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      'cognito:groups': ['users', 'ops'],
      iss: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_EXAMPLE',
      version: 2,
      client_id: '1example23456789',
      origin_jti: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      event_id: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      token_use: 'access',
      scope: 'aws.cognito.signin.user.admin',
      auth_time: nowS,
      jti: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
      username: 'my-test-user',
    },
    principalId: 'cognito:aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
    role: 'Admin',
    refused: [
      { client_id: 'another' },
      { client_id: undefined },
      { token_use: 'id', client_id: undefined, scope: undefined, aud: '1example23456789' },
      { token_use: undefined },
    ],
  },
]

for (const { heading, header, claims, principalId, role = 'User', refused } of published)
  t.test(`${heading}: a token of ${principalId} passes by the recipe, those of others do not`, async (t) => {
    const recipe = snippetsOf('docs/issuers.md').find(
      (snippet) => snippet.heading === heading && snippet.language === 'yaml',
    )
    const { issuers: options } = load(t, { ...minimalConfig, ...(parse(recipe?.text ?? '') as Options) })
    const verified = createVerifiedTokens(1_000, foreignClaimsBytes)
    const keys = { kind: 'file', text: JSON.stringify({ keys: [key.jwk] }) } as const
    const issuers = await openFileIssuers(
      options.map((issuer) => ({ ...issuer, keys })),
      verified,
    )
    const ownIssuer = 'https://gateway.example.com'
    const tokens = createForeignTokens({ issuers, ownIssuer, verified, clockToleranceMs: 0, clock: Date.now })
    const accepted = new Set(options.map(({ name }) => name))
    const verify = async (changes: Options = {}) =>
      tokens.verify(
        await signToken(key, { ...claims, ...times, ...changes }, { typ: undefined, ...header }),
        accepted,
      )
    t.match(await verify(), { kind: 'valid', claims: { principalId, role } })
    for (const changes of refused) {
      const verdict = await verify(changes)
      t.match(verdict?.kind ?? 'invalid', 'invalid', JSON.stringify(changes))
    }
  })
