import type { DefaultKeysStatus } from '#accounts/keys/default-keys.ts'
import type { SetupLink } from '#accounts/setup-links.ts'
import { createCarriers } from '#identity/carriers.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Html } from '#platform/pages/html.ts'
import { dayOf } from '#platform/time.ts'
import { errorText } from '#portal/answer-error.ts'
import { deleteAccountPage, newAccountPage } from '#portal/views/accounts/account-forms.ts'
import { accountPage } from '#portal/views/accounts/account-page.ts'
import { importPage } from '#portal/views/accounts/import-page.ts'
import { accountListPage, searchOf } from '#portal/views/accounts/list-page.ts'
import { severalAccountsPage, severalOutcomePage } from '#portal/views/accounts/several-pages.ts'
import { apiPage } from '#portal/views/api-page.ts'
import { auditPage } from '#portal/views/audit-page.ts'
import { eventsPage } from '#portal/views/events-page.ts'
import { emptyForm, type PageFrame } from '#portal/views/frame.ts'
import { type IntegrationView, integrationPage } from '#portal/views/integration/integration-page.ts'
import {
  forgottenPage,
  linkRequestedPage,
  passwordLinkPage,
  setupPage,
  verifyEmailPage,
} from '#portal/views/links.ts'
import { confirmByPasskeyPage } from '#portal/views/passkey-forms.ts'
import { profilePage } from '#portal/views/profile-page.ts'
import { secondFactorPage, signInCodePage } from '#portal/views/second-factor.ts'
import { sessionsPage } from '#portal/views/sessions-page.ts'
import { errorPage, signInPage, takeOverPage } from '#portal/views/sign-in-page.ts'
import { type SubjectsView, subjectsPage } from '#portal/views/subjects-page.ts'
import { type UsageView, usagePage } from '#portal/views/usage-page.ts'
import type { Account, ListedAccount } from '#store/accounts.ts'
import type { UsageCount } from '#store/usage.ts'
import { usualCarriers } from '../setup/carriers.ts'
import * as samples from './samples.ts'

/** Every page in every state that somebody may see it in. */
export const states: Readonly<Record<string, (over: Partial<PageFrame>) => Html>> = {
  'sign-in': (over) => signInPage(out(over), { ...emptyForm, next: '' }),
  'sign-in-wrong': (over) =>
    signInPage(out(over), {
      ...samples.refused({
        values: { email: 'ada@example.com' },
        message: 'Wrong e-mail or password.',
      }),
      next: '',
    }),
  'sign-in-signed-out': (over) =>
    signInPage(out({ ...over, notice: { kind: 'good', text: 'You are signed out.' } }), {
      ...emptyForm,
      next: '',
    }),
  'sign-in-providers': (over) => signInPage(out({ ...over, oidc }), { ...emptyForm, next: '' }),
  'sign-in-long-names': (over) =>
    signInPage({ ...samples.longFrame, ...over, oidc, viewer: undefined }, { ...emptyForm, next: '' }),
  'profile-providers': (over) =>
    profilePage(samples.frame({ ...over, oidc: { ...oidc, linked: oidc.providers } }), {
      account: samples.account(),
      canSend: true,
      hasSecondFactor: false,
    }),
  forgotten: (over) => forgottenPage(out(over), emptyForm, { canSend: true, linkLifetimeMs: 3_600_000 }),
  'forgotten-refused': (over) =>
    forgottenPage(
      out(over),
      samples.refused({ values: { email: 'ada' }, errors: { email: 'Must be an e-mail address.' } }),
      { canSend: true, linkLifetimeMs: 3_600_000 },
    ),
  'forgotten-no-mail': (over) =>
    forgottenPage(out(over), emptyForm, { canSend: false, linkLifetimeMs: 3_600_000 }),
  'link-requested': (over) =>
    linkRequestedPage(out(over), { email: samples.longAccount.email, linkLifetimeMs: 3_600_000 }),
  'setup-link': (over) => passwordLinkPage(out(over), emptyForm),
  'setup-link-refused': (over) =>
    passwordLinkPage(
      out(over),
      samples.refused({
        message: 'The link has expired, was already used or has been replaced. Ask for another.',
      }),
    ),
  setup: (over) =>
    setupPage(
      out(over),
      { ...emptyForm, values: { token: 'Kx3TbWq9ZrLm2VcA.0123456789' } },
      samples.now + 3_600_000,
    ),
  'setup-refused': (over) =>
    setupPage(
      out(over),
      samples.refused({
        values: { token: 'Kx3TbWq9ZrLm2VcA.0123456789' },
        errors: { password: 'Must have at least 12 characters.', again: 'The passwords do not match.' },
      }),
      undefined,
    ),
  'sign-in-code': (over) =>
    signInCodePage(out(over), { ...emptyForm, ...samples.appOnly, next: '', pending: 'x' }),
  'sign-in-code-wrong': (over) =>
    signInCodePage(out(over), {
      ...samples.refused({ errors: { code: 'The code is wrong, too old, or was used before.' } }),
      ...samples.appOnly,
      next: '',
      pending: 'x',
    }),
  'sign-in-passkey': (over) =>
    signInPage(out({ passkeys: samples.passkeys, ...over }), { ...emptyForm, next: '' }),
  'sign-in-second-passkey': (over) =>
    signInCodePage(out({ passkeys: samples.passkeys, ...over }), {
      ...samples.refused({ errors: { credential: 'The passkey was not accepted.' } }),
      hasApp: false,
      hasPasskeys: true,
      next: '',
      pending: 'x',
    }),
  'confirm-passkey': (over) =>
    confirmByPasskeyPage(samples.frame({ passkeys: samples.passkeys, ...over }), {
      ...emptyForm,
      next: '',
    }),
  'no-passkeys': (over) =>
    secondFactorPage(samples.frame({ passkeys: { ...samples.passkeys, canConfirm: false }, ...over }), {
      factor: undefined,
      proposed: samples.newFactor,
      isRequired: false,
    }),
  passkeys: (over) =>
    secondFactorPage(samples.frame({ passkeys: samples.passkeys, ...over }), {
      factor: samples.passkeyFactor,
      proposed: samples.newFactor,
      isRequired: false,
      refusedPasskey: {
        form: 'remove',
        id: 'one',
        state: samples.refused({ errors: { id: 'This is your last passkey: first add another.' } }),
      },
    }),
  'passkey-refused': (over) =>
    secondFactorPage(samples.frame({ passkeys: { ...samples.passkeys, isConfirmed: true }, ...over }), {
      factor: { ...samples.factor, ...samples.passkeyFactor, sealed: 'x' },
      proposed: undefined,
      isRequired: false,
      refusedPasskey: {
        form: 'add',
        id: '',
        state: samples.refused({ values: { name: '' }, errors: { name: 'Must be 1 to 60 characters.' } }),
      },
    }),
  'second-factor': (over) =>
    secondFactorPage(samples.frame(over), {
      factor: undefined,
      proposed: samples.newFactor,
      isRequired: true,
    }),
  'second-factor-refused': (over) =>
    secondFactorPage(samples.frame(over), {
      factor: undefined,
      proposed: samples.newFactor,
      isRequired: false,
      refused: {
        form: 'enable',
        state: samples.refused({ errors: { code: 'The code is wrong or too old.' } }),
      },
    }),
  'second-factor-on': (over) =>
    secondFactorPage(samples.frame(over), {
      factor: samples.factor,
      proposed: undefined,
      isRequired: false,
      codes: Array.from({ length: 10 }, (_, index) => `k7m2p-x9qr${index}`),
    }),
  'verify-email': (over) => verifyEmailPage(out(over), emptyForm),
  'verify-email-sign-in': (over) =>
    verifyEmailPage(
      out(over),
      { ...emptyForm, values: { token: 'gev_…' } },
      { account: 'ada@example.com', email: 'ada.king@example.com', viewer: undefined },
    ),
  'take-over': (over) =>
    takeOverPage(
      out(over),
      { from: { name: undefined, label: 'Example ID' }, acceptsPasswords: true },
      'ada@example.com',
    ),
  error: (over) =>
    errorPage(out(over), {
      ...errorText(new GatehouseError('store-unavailable'), 'nothing', out(over).texts),
      requestId: '6f1d2c1e-4f0b-4a52-9a7e-0d6f7f2c9a11',
      recoveryLink: { href: '/portal/profile', text: out(over).texts.errors.tryAgain },
    }),
  'error-signed-in': (over) =>
    errorPage(samples.adminFrame(over), {
      ...errorText(new GatehouseError('account-not-found'), 'read', out(over).texts),
      requestId: '6f1d2c1e-4f0b-4a52-9a7e-0d6f7f2c9a11',
    }),
  'integration-first': (over) =>
    integrationPage(samples.frame(over), integration({ keys: samples.freshKeys })),
  integration: (over) => integrationPage(samples.frame(over), integration({})),
  'integration-reset': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        keys: samples.resetKeys,
        shown: {
          kind: 'secretKey',
          key: samples.sampleKeys.secretKey,
          replacement: { graceSeconds: 86_400 },
        },
      }),
    ),
  'integration-reset-no-copies': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        keys: samples.unkeptKeys,
        shown: { kind: 'apiKey', key: samples.sampleKeys.apiKey, replacement: { graceSeconds: 0 } },
      }),
    ),
  'integration-further-keys': (over) =>
    integrationPage(
      samples.frame(over),
      integration({ furtherKeys: samples.furtherKeys, createdKey: samples.createdKey }),
    ),
  'integration-further-key-rotated': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        furtherKeys: samples.furtherKeys,
        createdKey: { ...samples.createdKey, graceSeconds: 86_400 },
      }),
    ),
  'integration-further-key-refused': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        furtherKeys: samples.furtherKeys,
        refusedKeyForm: {
          form: 'rename',
          name: 'deploy',
          state: samples.refused({
            values: { to: 'ci' },
            errors: { to: '"ci" is the name of another key of this account.' },
          }),
        },
      }),
    ),
  'integration-further-keys-refused': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        furtherKeys: samples.furtherKeys,
        refusedKey: {
          values: { name: 'c i', scopes: 'orders:read', addresses: '', lifetimeDays: '' },
          errors: { name: 'Must be 1 to 64 letters, digits, . _ or -.', password: 'The password is wrong.' },
          message: undefined,
        },
      }),
    ),
  'integration-certificate-refused': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        snippets: {
          baseUrl: 'https://api.example.com',
          path: '/orders',
          carriers: createCarriers(['SecretKey', 'certificate']),
        },
        refusedCertificate: {
          values: {
            name: 'laptop',
            certificate: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
          },
          errors: {
            certificate: 'Cannot be read as an X.509 certificate.',
            password: 'The password is wrong.',
          },
          message: undefined,
        },
      }),
    ),
  usage: (over) => usagePage(samples.frame(over), usage(samples.usage)),
  'usage-units': (over) => usagePage(samples.frame({ ...over, quotaUnit: 'units' }), usage(samples.usage)),
  'usage-without-plan': (over) =>
    usagePage(samples.frame(over), { ...usage(samples.usage), plan: undefined, keyQuotas: [] }),
  'usage-none': (over) => usagePage(samples.frame(over), usage([])),
  'usage-admin': (over) =>
    usagePage(samples.frame(over), {
      ...usage(samples.usage),
      isOwn: false,
      path: `/accounts/${samples.longAccount.id}/usage`,
      plan: { name: 'retired', isKnown: false, quota: undefined, rateLimit: undefined },
    }),
  'integration-overlap': (over) =>
    integrationPage(samples.frame(over), integration({ keys: samples.overlappingKeys })),
  'integration-revoked': (over) =>
    integrationPage(samples.frame(over), integration({ keys: samples.revokedKeys })),
  'integration-revoked-overlap': (over) =>
    integrationPage(samples.frame(over), integration({ keys: samples.endingKeys })),
  'integration-refused': (over) =>
    integrationPage(
      samples.frame(over),
      integration({
        refused: {
          kind: 'secretKey',
          form: 'reset',
          state: samples.refused({
            values: { graceSeconds: '3600' },
            errors: { password: 'The password is wrong.' },
          }),
        },
      }),
    ),
  'integration-no-copies': (over) =>
    integrationPage(samples.frame(over), integration({ keys: samples.unkeptKeys })),
  'integration-tried': (over) =>
    integrationPage(samples.frame(over), integration({ tryIt: { ...tryIt, chosen: 'hello', outcome } })),
  'integration-tried-open': (over) => {
    const response = {
      ...outcome.response,
      scheme: 'no credential',
      sendsIdentity: false,
      identity: [],
    }
    const request = { method: 'PUT', rest: '/42', body: '{"item": 7}' }
    const open = { ...tryIt, request, chosen: 'orders', outcome: { ...outcome, response } }
    return integrationPage(samples.frame(over), integration({ tryIt: open }))
  },
  api: (over) => apiPage(samples.frame(over), api),
  'api-no-routes': (over) => apiPage(samples.frame(over), { ...api, routes: [], groups: undefined }),
  sessions: (over) =>
    sessionsPage(samples.frame(over), {
      sessions: pageOf(samples.sessions),
      portalSessions: samples.portalSessions,
      current: 'p1',
    }),
  'sessions-older': (over) =>
    sessionsPage(samples.frame(over), {
      sessions: { items: samples.sessions, nextCursor: 'WyIxIiwiMiJd', isFirstPage: false },
      portalSessions: samples.portalSessions,
      current: 'p1',
    }),
  'sessions-none': (over) =>
    sessionsPage(samples.frame(over), {
      sessions: pageOf([]),
      portalSessions: samples.portalSessions.slice(0, 1),
      current: 'p1',
    }),
  profile: (over) =>
    profilePage(samples.frame(over), { account: samples.account(), canSend: true, hasSecondFactor: false }),
  'profile-refused': (over) =>
    profilePage(samples.frame(over), {
      account: samples.account({ isVerified: false }),
      canSend: false,
      hasSecondFactor: true,
      refused: {
        form: 'password',
        state: samples.refused({ errors: { current: 'The current password is wrong.' } }),
      },
    }),
  'profile-language-refused': (over) =>
    profilePage(samples.frame(over), {
      account: samples.account(),
      canSend: true,
      hasSecondFactor: false,
      refused: {
        form: 'language',
        state: samples.refused({ errors: { language: 'Choose a language.' } }),
      },
    }),
  'profile-long': (over) =>
    profilePage(
      { ...samples.longFrame, ...over },
      { account: samples.longAccount, canSend: true, hasSecondFactor: false },
    ),
  accounts: (over) => accountListPage(samples.adminFrame(over), accounts({ nextCursor: 'next' })),
  'accounts-long': (over) =>
    accountListPage(
      { ...samples.longFrame, ...over },
      accounts({ items: [samples.longAccount, ...samples.people].map(listed), isFirstPage: false }),
    ),
  'accounts-filtered': (over) =>
    accountListPage(
      samples.adminFrame({ plans: ['free', 'pro'], ...over }),
      accounts({ fields: { ...noFields, role: 'Former', plan: 'old', active: 'not-90', sort: 'email' } }),
    ),
  'accounts-several': (over) =>
    severalAccountsPage(samples.adminFrame(over), {
      action: 'disable',
      accounts: [samples.longAccount, ...samples.people],
      list: searchOf({ ...noFields, role: 'User' }),
    }),
  'accounts-several-refused': (over) =>
    severalAccountsPage(samples.adminFrame({ plans: ['free'], ...over }), {
      action: 'role',
      accounts: samples.people,
      list: '',
      state: samples.refused({
        values: { role: 'admin' },
        errors: { role: 'Did you mean Admin? Roles are case-sensitive.' },
      }),
    }),
  'accounts-several-plan': (over) =>
    severalAccountsPage(samples.adminFrame({ plans: ['free'], ...over }), {
      action: 'plan',
      accounts: samples.people,
      list: '',
    }),
  'accounts-several-outcome': (over) =>
    severalOutcomePage(samples.adminFrame(over), {
      changed: 3,
      list: '',
      refused: [{ account: samples.longAccount, why: 'At least one Admin must remain.' }],
    }),
  'accounts-none-yet': (over) =>
    accountListPage(
      samples.adminFrame(over),
      accounts({ fields: { ...noFields, q: 'ada love' }, items: [], nextCursor: 'next', isFirstPage: false }),
    ),
  'accounts-none': (over) =>
    accountListPage(samples.adminFrame(over), accounts({ fields: { ...noFields, q: 'nobody' }, items: [] })),
  'account-new': (over) => newAccountPage(samples.adminFrame(over)),
  'account-new-refused': (over) =>
    newAccountPage(
      samples.adminFrame({ plans: ['free', 'pro'], ...over }),
      samples.refused({
        values: { email: 'ada@example.com', firstName: 'Ada', role: '1st', isVerified: 'true' },
        errors: {
          email: 'An account with this e-mail already exists.',
          role: 'Must be 1 to 64 letters, digits, _ . or -, starting with a letter.',
        },
      }),
    ),
  'account-created': (over) => accountCreated(over, samples.sampleLink),
  'account-created-without-link': (over) => accountCreated(over, undefined),
  account: (over) =>
    accountPage(samples.adminFrame(over), {
      account: samples.account(),
      keys: samples.overlappingKeys,
      furtherKeys: samples.furtherKeys,
      sessions: pageOf(samples.sessions),
      portalSessions: samples.portalSessions,
    }),
  'account-own': (over) =>
    accountPage(samples.ownFrame(over), {
      account: samples.account({ role: 'Admin' }),
      keys: samples.overlappingKeys,
      furtherKeys: [],
      sessions: pageOf(samples.sessions),
      portalSessions: samples.portalSessions,
      state: samples.refused({ errors: { password: 'The password is wrong.' } }),
    }),
  'account-long': (over) =>
    accountPage(samples.adminFrame({ plans: ['free', 'pro'], ...over }), {
      account: { ...samples.longAccount, plan: 'retired' },
      keys: samples.usedKeys,
      furtherKeys: samples.furtherKeys,
      sessions: pageOf(samples.sessions),
      portalSessions: [],
      problem:
        'An Admin cannot disable, delete or demote their own account, or remove their second factor without a code. Ask another Admin.',
    }),
  'account-revoked-key': (over) => accountWith(over, samples.revokedKeys),
  'account-revoked-key-overlap': (over) => accountWith(over, samples.endingKeys),
  'account-delete': (over) => deleteAccountPage(samples.adminFrame(over), samples.account()),
  'account-delete-long': (over) => deleteAccountPage({ ...samples.longFrame, ...over }, samples.longAccount),
  subjects: (over) => subjectsPage(samples.adminFrame(over), subjects({ nextCursor: 'next' })),
  'subjects-none': (over) => subjectsPage(samples.adminFrame(over), subjects({ items: [] })),
  'subjects-refused': (over) =>
    subjectsPage(
      { ...samples.longFrame, ...over },
      subjects({
        isFirstPage: false,
        state: samples.refused({
          values: { issuer: 'corpp', subject: 'ada' },
          errors: { issuer: 'Must be the name of an issuer in the config: corp, did you mean "corp"?' },
        }),
      }),
    ),
  'accounts-import': (over) =>
    importPage(samples.adminFrame(over), { state: emptyForm, badLines: [], imported: undefined }),
  'accounts-import-refused': (over) =>
    importPage(samples.adminFrame(over), {
      state: samples.refused({ values: { text: 'email,role\nada@example.com,User\nnobody,1st\n' } }),
      badLines: [
        { line: 2, message: 'email: ada@example.com already has an account' },
        {
          line: 3,
          message:
            'email: must be an e-mail address of at most 254 characters; role: must start with a letter',
        },
      ],
      imported: undefined,
    }),
  'accounts-import-repeated': (over) =>
    importPage(samples.adminFrame(over), {
      state: samples.refused({ values: { text: 'email\nada@example.com\n' } }),
      badLines: [{ line: 2, message: 'email: ada@example.com already has an account' }],
      isRepeated: true,
      imported: undefined,
    }),
  'accounts-imported': (over) =>
    importPage(samples.adminFrame(over), {
      state: emptyForm,
      badLines: [],
      imported: [samples.account(), samples.longAccount].map((account) => ({
        account,
        ...samples.sampleKeys,
      })),
    }),
  'events-none': (over) => eventsPage(samples.adminFrame(over), { receivers: [] }),
  events: (over) =>
    eventsPage(samples.adminFrame(over), {
      receivers: samples.receivers,
      tested: {
        receiver: samples.receivers[1]?.receiver ?? '',
        error: 'connect ECONNREFUSED 203.0.113.7:443',
      },
    }),
  audit: (over) => auditPage(samples.adminFrame(over), audit({ entries: samples.auditEntries, before: '7' })),
  'audit-none': (over) =>
    auditPage(samples.adminFrame(over), audit({ entries: [], who: 'nobody@example.com' })),
}

const oidc = {
  providers: [
    { name: undefined, label: 'Example ID' },
    { name: 'corp', label: 'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch' },
  ],
  acceptsPasswords: true,
  linked: [],
  hasPassword: true,
  isConfirmed: false,
  path: '/profile',
} satisfies PageFrame['oidc']

function out(over: Partial<PageFrame>): PageFrame {
  return samples.frame({ ...over, viewer: undefined })
}

const api: Parameters<typeof apiPage>[1] = {
  routes: [
    {
      name: 'orders',
      path: '/orders/of-all-customers/in-all-countries',
      host: 'a-rather-long-host-name.example.com',
      methods: ['GET', 'POST', 'DELETE'],
      auth: 'any',
      scopes: ['orders:read', 'orders:write'],
      rateLimit: { limit: 600, perMs: 60_000, by: 'account' },
    },
    {
      name: 'open',
      path: '/open',
      host: undefined,
      methods: undefined,
      auth: 'none',
      scopes: undefined,
      rateLimit: undefined,
    },
  ],
  groups: [
    {
      name: 'Tokens',
      description: 'Access and refresh tokens for the keys of an account.',
      operations: [
        {
          method: 'POST',
          path: '/api/v1/accounts/access-token',
          summary: 'Exchanges both keys for an access token.',
          description: 'A `Set-Cookie` has the refresh token.',
          isForAnyone: true,
          parameters: [{ name: 'from', in: 'query', isRequired: false, description: 'First day (UTC).' }],
          body: { type: 'application/json', example: '{\n  "SecretKey": "gate_sk_…"\n}' },
          responses: [
            { status: '200', description: 'The tokens.', type: 'application/json', example: '{}' },
            { status: '401', description: '`credentials-invalid`: wrong keys.' },
          ],
        },
      ],
    },
  ],
  baseUrl: 'https://api.example.com',
  path: '/orders',
  documentPath: '/api/v1/openapi.json',
  carriers: usualCarriers,
}

const tryIt: IntegrationView['tryIt'] = {
  routes: [
    { name: 'hello', path: '/hello', host: undefined, method: 'GET' },
    { name: 'orders', path: '/orders', host: 'shop.example.com', method: 'POST' },
  ],
  chosen: undefined,
  request: { method: '', rest: '', body: '' },
  outcome: undefined,
}

const outcome = {
  kind: 'answered',
  response: {
    route: 'GET /hello',
    status: 200,
    durationMs: 7,
    credential: 'secretKey',
    sendsIdentity: true,
    identity: [
      ['X-User-Id', 'Kx3TbWq9ZrLm2VcA'],
      ['X-User-Role', 'User'],
    ],
    contentType: 'application/json',
    body: '{\n  "message": "This is the demo backend. It received:",\n  "method": "GET",\n  "url": "/hello"\n}',
    isTruncated: false,
  },
} as const satisfies IntegrationView['tryIt']['outcome']

function usage(counts: readonly UsageCount[]): UsageView {
  const account = samples.longAccount
  const { plan, keyQuotas, usageDays: days } = samples
  return { account, plan, keyQuotas, isOwn: true, path: '/usage', days, counts }
}

function integration(over: Partial<IntegrationView>): IntegrationView {
  return {
    accountId: 'Kx3TbWq9ZrLm2VcA',
    keys: samples.usedKeys,
    furtherKeys: [],
    snippets: { baseUrl: 'https://api.example.com', path: '/orders', carriers: usualCarriers },
    tryIt,
    ...over,
  }
}

function subjects(over: Partial<SubjectsView>): SubjectsView {
  const blockedAt = new Date(samples.now - 3_600_000).toISOString()
  return {
    items: [
      { issuer: 'corp', subject: 'auth0|64f0c0aa1b2c3d4e5f607182', blockedAt },
      { issuer: 'partner', subject: 'Ünïcode '.repeat(20), blockedAt },
    ],
    nextCursor: undefined,
    isFirstPage: true,
    state: emptyForm,
    ...over,
  }
}

const noFields = { q: '', role: '', plan: '', disabled: '', active: '', sort: '' }

/** Never active, active today, and longer and longer ago. */
function listed(account: Account, index: number): ListedAccount {
  const lastActiveDay = index === 0 ? undefined : dayOf(samples.now) - (index - 1) ** 3
  return { ...account, lastActiveDay }
}

function accounts(
  over: Partial<Parameters<typeof accountListPage>[1]>,
): Parameters<typeof accountListPage>[1] {
  const items = samples.people.map(listed)
  return { fields: noFields, count: 12_345, items, nextCursor: undefined, isFirstPage: true, ...over }
}

function audit({
  who,
  ...over
}: Partial<Parameters<typeof auditPage>[1]> & { readonly who?: string }): Parameters<typeof auditPage>[1] {
  return {
    filter: { action: undefined, who: undefined, part: who },
    entries: [],
    before: undefined,
    isFirstPage: true,
    ...over,
  }
}

/** The only page of them. */
function pageOf(items: typeof samples.sessions) {
  return { items, nextCursor: undefined, isFirstPage: true }
}

function accountWith(over: Partial<PageFrame>, keys: DefaultKeysStatus): Html {
  return accountPage(samples.adminFrame(over), {
    account: samples.account(),
    keys,
    furtherKeys: [],
    sessions: pageOf(samples.sessions),
    portalSessions: samples.portalSessions,
  })
}

function accountCreated(over: Partial<PageFrame>, link: SetupLink | undefined): Html {
  return accountPage(samples.adminFrame(over), {
    account: samples.account({ isVerified: false }),
    keys: samples.freshKeys,
    furtherKeys: [],
    sessions: pageOf([]),
    portalSessions: [],
    oneTimeSecrets: { kind: 'created', ...samples.sampleKeys, link },
  })
}
