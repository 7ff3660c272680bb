import { emailLengthMax, fullName } from '#accounts/account-input.ts'
import type { KeyStatus, KeysStatus } from '#accounts/account-keys.ts'
import type { SecretKeyStatus } from '#accounts/secret-keys.ts'
import type { SetupLink } from '#accounts/setup-links.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card, icon, staticNotice } from '#platform/pages/parts.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { Account } from '#store/account.ts'
import type { PortalSession } from '#store/portal.ts'
import { planField, roleField, stateBadge } from './accounts-page.ts'
import { actionRow, currentPasswordField, factRow, field, foldedForm, form, formMessage } from './form.ts'
import { emptyForm, type FormState, labelsOf, type PageFrame } from './frame.ts'
import { accountFurtherKeysCard } from './further-keys.ts'
import { overlapField, overlapPart } from './key-card.ts'
import { page } from './layout.ts'
import { setupLinkRows } from './links.ts'
import { codeBlock, copyButton } from './parts.ts'
import { nameFields } from './profile-page.ts'
import { secondFactorRow } from './second-factor.ts'
import { confirmationForm, portalSessionsCard, type SessionsList, sessionsCard } from './sessions-page.ts'

/** Secrets that are shown only once, in the response to the action that created them. */
export type OneTimeSecrets =
  | {
      readonly kind: 'created'
      readonly secretKey: string
      readonly apiKey: string
      /** undefined = the link could not be created; `mailed` = the owner gets it by mail. */
      readonly link: SetupLink | 'mailed' | undefined
    }
  | { readonly kind: 'key'; readonly name: KeyKind; readonly key: string }
  | { readonly kind: 'link'; readonly link: SetupLink }

export interface AccountView {
  readonly account: Account
  readonly keys: KeysStatus
  /** The secret keys other than the default one. */
  readonly furtherKeys: readonly SecretKeyStatus[]
  readonly sessions: SessionsList
  readonly portalSessions: readonly PortalSession[]
  readonly oneTimeSecrets?: OneTimeSecrets | undefined
  /** The details form, if it was refused. */
  readonly state?: FormState | undefined
  /** The error of any other action. */
  readonly problem?: string | undefined
}

/** One account, as an Admin sees it. */
export function accountPage(frame: PageFrame, view: AccountView): Html {
  const { account, oneTimeSecrets, problem, sessions, portalSessions } = view
  const basePath = `/accounts/${account.id}`
  const isOwn = account.id === frame.viewer?.id
  return page(frame, {
    title: account.email,
    section: '/accounts',
    breadcrumb: { href: '/accounts', text: 'Accounts' },
    lead: fullName(account) || undefined,
    actions: html`${isOwn && badge('plain', 'You')}${stateBadge(frame, account)}<a class="button small" href="${frame.base}/accounts/${account.id}/usage">${icon('usage')}Usage</a><a class="button small" href="${frame.base}/audit?who=${account.id}">${icon('audit')}Audit</a>`,
    body: html`${problem !== undefined && html`<div role="alert">${staticNotice('bad', problem)}</div>`}${oneTimeSecrets && oneTimeSecretsPart(frame, oneTimeSecrets)}
${detailsCard(frame, view)}${accessCard(frame, account, { isOwn })}${keysCard(frame, view)}${accountFurtherKeysCard(frame, view.furtherKeys, account.id)}
${sessionsCard(frame, sessions, basePath)}${portalSessionsCard(frame, portalSessions, { current: undefined, basePath })}
${!isOwn && dangerCard(frame, account)}`,
  })
}

function oneTimeSecretsPart(frame: PageFrame, oneTimeSecrets: OneTimeSecrets): Html {
  switch (oneTimeSecrets.kind) {
    case 'created':
      return html`<div role="status">${card({
        title: 'Account created',
        lead:
          typeof oneTimeSecrets.link === 'object'
            ? 'Send the link to the owner. Save these keys: they are not shown again.'
            : 'Save these keys: they are not shown again.',
        body: html`${newLinkPart(frame, oneTimeSecrets.link)}${keyPart(frame, 'Secret key', oneTimeSecrets.secretKey)}${keyPart(frame, 'API key', oneTimeSecrets.apiKey)}`,
      })}</div>`
    case 'key':
      return html`<div role="status">${card({
        title: 'Key reset',
        lead: 'Save this key and give it to the owner: it is not shown again.',
        body: keyPart(
          frame,
          oneTimeSecrets.name === 'secretKey' ? 'Secret key' : 'API key',
          oneTimeSecrets.key,
        ),
      })}</div>`
    case 'link':
      return html`<div role="status">${card({
        title: 'Set-up link created',
        lead: 'Send it to the account owner. It is not shown again.',
        body: linkPart(frame, oneTimeSecrets.link),
      })}</div>`
    default:
      return oneTimeSecrets satisfies never
  }
}

function newLinkPart(frame: PageFrame, link: SetupLink | 'mailed' | undefined): Html | undefined {
  if (frame.oidc?.acceptsPasswords === false) return undefined
  if (link === 'mailed') return staticNotice('good', 'A set-up link is on its way to the owner.')
  return link ? linkPart(frame, link) : staticNotice('warn', noLink)
}

const noLink = 'The set-up link could not be created. Create one under Access below.'

function keyPart(frame: PageFrame, name: string, key: string): Html {
  return html`<div class="field"><h3>${name}</h3><div class="secret"><code>${key}</code>${copyButton(frame, name)}</div></div>`
}

function linkPart(frame: PageFrame, { url, expiresAt }: SetupLink): Html {
  return html`<div class="field">${codeBlock(frame, 'Set-up link', url, { isWrapped: true })}<p class="hint">Single use; expires ${time(expiresAt, frame)}. Anyone who has it can set the password.</p></div>`
}

function detailsCard(frame: PageFrame, { account, state = emptyForm }: AccountView): Html {
  return card({
    title: 'Details',
    aside: html`<code class="muted">${account.id}</code>`,
    body: form(frame, {
      action: `/accounts/${account.id}/update`,
      body: html`${formMessage(state)}${field(state, {
        name: 'email',
        label: 'E-mail',
        type: 'email',
        autocomplete: 'off',
        lengthMax: emailLengthMax,
        value: account.email,
      })}${nameFields(frame, state, account)}${roleField(frame, state, account.role)}${planField(frame, state, account.plan)}${ownPasswordField(frame, account, { state, idPrefix: 'details' })}
<p class="hint">Changing the role revokes access tokens issued with the old role.</p><div><button>Save details</button></div>`,
    }),
  })
}

/** Admins cannot disable or delete their own account, so it is not offered. */
function accessCard(frame: PageFrame, account: Account, { isOwn }: { readonly isOwn: boolean }): Html {
  const { id, isVerified, isDisabled } = account
  return card({
    title: 'Access',
    body: html`${
      isDisabled
        ? factRow('Set-up link', 'Set-up links do not work for disabled accounts. Enable the account first.')
        : frame.oidc?.acceptsPasswords === false
          ? factRow(
              'No password',
              `People sign in with ${labelsOf(frame.oidc.providers, frame.texts.form.or)}.`,
            )
          : isOwn
            ? factRow('Your password', html`Change it on your <a href="${frame.base}/profile">profile</a>.`)
            : setupLinkRows(frame, id)
    }${!isOwn && linkRow(frame, account)}${secondFactorRow(frame, account, isOwn)}${actionRow(frame, {
      path: `/accounts/${id}/${isVerified ? 'unverify' : 'verify'}`,
      text: isVerified ? 'The e-mail is verified' : 'The e-mail is not verified',
      hint: 'Some routes require a verified account.',
      button: isVerified ? 'Mark as not verified' : 'Mark as verified',
      asked: ownPasswordField(frame, account, { idPrefix: 'verify' }),
    })}${
      isOwn
        ? factRow('This is your own account', 'Another Admin can change its role, disable or delete it.')
        : isDisabled
          ? actionRow(frame, {
              path: `/accounts/${id}/enable`,
              text: 'The account is disabled',
              hint: 'Its keys are rejected.',
              button: 'Enable',
            })
          : disableRow(frame, id)
    }`,
  })
}

/** The owner's identities at OpenID providers. */
function linkRow(frame: PageFrame, { id, portal: { identities } }: Account): Html | undefined {
  if (identities.length === 0) return undefined
  const known = identities.map(({ issuer, subject }) => `${issuer}: ${subject}`).join('; ')
  return actionRow(frame, {
    path: `/accounts/${id}/unlink`,
    text: identities.length === 1 ? 'Linked with a sign-in service' : 'Linked with sign-in services',
    hint: `${known}. Unlinking ends the portal sessions.`,
    button: 'Unlink',
  })
}

function disableRow(frame: PageFrame, id: string): Html {
  return html`<div class="act-row"><div><p>The account is enabled</p><p class="hint">Its keys stop working and its sessions end.</p></div>${confirmationForm(
    frame,
    {
      action: `/accounts/${id}/disable`,
      text: 'Disable',
      consequence:
        'Its keys stop working and its sessions end. Enabling it again restores the keys, not the sessions.',
    },
  )}</div>`
}

/** Actions on one's own account require the password. */
function ownPasswordField(
  frame: PageFrame,
  { id }: Account,
  { state = emptyForm, idPrefix }: { readonly state?: FormState; readonly idPrefix: string },
): Html | undefined {
  return id === frame.viewer?.id ? currentPasswordField(frame, state, idPrefix) : undefined
}

function keysCard(frame: PageFrame, { account, keys }: AccountView): Html {
  const { secretKey, previousSecretKey: previous, apiKey } = keys
  const { id } = account
  return card({
    title: 'Keys',
    body: html`<dl class="facts">${keyFacts(frame, 'Secret key', secretKey)}${keyFacts(frame, 'API key', apiKey)}</dl>
${previous && overlapPart(frame, { ...previous, since: secretKey.createdAt }, { endPath: `/accounts/${id}/end-overlap` })}
<div class="acts-list">${foldedForm(frame, {
      summary: 'Reset the secret key…',
      action: `/accounts/${id}/reset-secret`,
      body: html`${replacesField(secretKey.createdAt)}${overlapField(frame, emptyForm)}${ownPasswordField(frame, account, { idPrefix: 'secret' })}<div><button class="danger primary">Reset the secret key</button></div>`,
    })}${foldedForm(frame, {
      summary: 'Reset the API key…',
      action: `/accounts/${id}/reset-api-key`,
      body: html`${replacesField(apiKey.createdAt)}<p class="muted">The old key stops working immediately.</p>${ownPasswordField(frame, account, { idPrefix: 'api' })}<div><button class="danger primary">Reset the API key</button></div>`,
    })}</div>`,
  })
}

/** Identifies the key to replace, so that a form that is submitted twice resets it only once. */
function replacesField(createdAt: number): Html {
  return html`<input type="hidden" name="replaces" value="${createdAt}">`
}

function keyFacts(frame: PageFrame, name: string, { createdAt, lastUse }: KeyStatus): Html {
  return html`<div><dt>${name} created</dt><dd>${time(createdAt, frame)}</dd></div><div><dt>Last used</dt><dd>${
    lastUse
      ? html`${time(lastUse.at, frame)} from ${lastUse.address}`
      : html`<span class="muted">Never</span>`
  }</dd></div>`
}

function dangerCard({ base }: PageFrame, { id }: Account): Html {
  return card({
    title: 'Delete',
    lead: 'Revokes its keys, tokens and sessions immediately. This cannot be undone.',
    aside: html`<a class="button danger" href="${base}/accounts/${id}/delete">Delete account…</a>`,
    body: '',
  })
}
