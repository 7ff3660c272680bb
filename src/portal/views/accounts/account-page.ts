import { fullName } from '#accounts/account-input.ts'
import type { DefaultKeysStatus, KeyStatus } from '#accounts/keys/default-keys.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import type { SetupLink } from '#accounts/setup-links.ts'
import { time } from '#platform/pages/format.ts'
import { badge, card, type Html, html, icon, staticNotice } from '#platform/pages/html.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { Account } from '#store/accounts.ts'
import type { PortalSession } from '#store/portal.ts'
import { actionRow, emailField, factRow, foldedForm, form, formMessage, hidden, nameFields } from '../form.ts'
import { emptyForm, type FormState, labelsOf, type PageFrame } from '../frame.ts'
import { accountFurtherKeysCard } from '../integration/further-keys.ts'
import { newKeyWords, overlapField, overlapPart } from '../integration/key-card.ts'
import { page } from '../layout.ts'
import { codeBlock, copyButton } from '../parts.ts'
import { currentPasswordField } from '../proof-fields.ts'
import { secondFactorRow } from '../second-factor.ts'
import { confirmationForm, portalSessionsCard, type SessionsList, sessionsCard } from '../sessions-page.ts'
import { belowAccounts, planField, roleField, setupLinkRows, stateBadge } from './account-forms.ts'

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
  readonly keys: DefaultKeysStatus
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
  const { accounts, layout } = frame.texts
  return page(frame, {
    title: account.email,
    ...belowAccounts(frame),
    lead: fullName(account) || undefined,
    actions: html`${isOwn && badge('plain', accounts.you)}${stateBadge(frame, account)}<a class="button small" href="${frame.base}/accounts/${account.id}/usage">${icon('usage')}${layout.sections['/usage']}</a><a class="button small" href="${frame.base}/audit?who=${account.id}">${icon('audit')}${layout.sections['/audit']}</a>`,
    body: html`${problem !== undefined && html`<div role="alert">${staticNotice('bad', problem)}</div>`}${oneTimeSecrets && oneTimeSecretsPart(frame, oneTimeSecrets)}
${detailsCard(frame, view)}${accessCard(frame, account, { isOwn })}${keysCard(frame, view)}${accountFurtherKeysCard(frame, view.furtherKeys, account.id)}
${sessionsCard(frame, sessions, basePath)}${portalSessionsCard(frame, portalSessions, { current: undefined, basePath })}
${!isOwn && dangerCard(frame, account)}`,
  })
}

function oneTimeSecretsPart(frame: PageFrame, oneTimeSecrets: OneTimeSecrets): Html {
  const { accountPage: ofPage, keys } = frame.texts
  const texts = ofPage.oneTime
  switch (oneTimeSecrets.kind) {
    case 'created':
      return html`<div role="status">${card({
        title: texts.created,
        lead: typeof oneTimeSecrets.link === 'object' ? texts.saveKeysAndLink : texts.saveKeys,
        body: html`${newLinkPart(frame, oneTimeSecrets.link)}${keyPart(frame, keys.secretKey.title, oneTimeSecrets.secretKey)}${keyPart(frame, keys.apiKey.title, oneTimeSecrets.apiKey)}`,
      })}</div>`
    case 'key':
      return html`<div role="status">${card({
        title: texts.keyReset,
        lead: texts.saveKey,
        body: keyPart(frame, keys[oneTimeSecrets.name].title, oneTimeSecrets.key),
      })}</div>`
    case 'link':
      return html`<div role="status">${card({
        title: texts.linkCreated,
        lead: texts.sendLink,
        body: linkPart(frame, oneTimeSecrets.link),
      })}</div>`
    default:
      return oneTimeSecrets satisfies never
  }
}

function newLinkPart(frame: PageFrame, link: SetupLink | 'mailed' | undefined): Html | undefined {
  if (frame.oidc?.acceptsPasswords === false) return undefined
  const { linkMailed, noLink } = frame.texts.accountPage.oneTime
  if (link === 'mailed') return staticNotice('good', linkMailed)
  return link ? linkPart(frame, link) : staticNotice('warn', noLink)
}

function keyPart(frame: PageFrame, name: string, key: string): Html {
  return html`<div class="field"><h3>${name}</h3><div class="secret"><code>${key}</code>${copyButton(frame, name)}</div></div>`
}

function linkPart(frame: PageFrame, { url, expiresAt }: SetupLink): Html {
  const { accountPage, links } = frame.texts
  return html`<div class="field">${codeBlock(frame, links.forOwner.title, url, { isWrapped: true })}<p class="hint">${accountPage.oneTime.linkHint(time(expiresAt, frame))}</p></div>`
}

function detailsCard(frame: PageFrame, { account, state = emptyForm }: AccountView): Html {
  const { accounts, accountPage: texts } = frame.texts
  return card({
    title: texts.details,
    aside: html`<code class="muted">${account.id}</code>`,
    body: form(frame, {
      action: `/accounts/${account.id}/update`,
      body: html`${formMessage(state)}${emailField(state, {
        label: accounts.email,
        autocomplete: 'off',
        value: account.email,
      })}${nameFields(frame, state, account)}${roleField(frame, state, account.role)}${planField(frame, state, account.plan)}${ownPasswordField(frame, account, { state, idPrefix: 'details' })}
<p class="hint">${texts.roleChange}</p><div><button>${texts.saveDetails}</button></div>`,
    }),
  })
}

/** Admins cannot disable or delete their own account, so it is not offered. */
function accessCard(frame: PageFrame, account: Account, { isOwn }: { readonly isOwn: boolean }): Html {
  const { id, isVerified, isDisabled } = account
  const { accountPage: texts, links, form: ofForms } = frame.texts
  return card({
    title: texts.access,
    body: html`${
      isDisabled
        ? factRow(links.forOwner.title, texts.noSetupLink)
        : frame.oidc?.acceptsPasswords === false
          ? factRow(texts.noPassword, texts.signInWith(labelsOf(frame.oidc.providers, frame.locale)))
          : isOwn
            ? factRow(ofForms.yourPassword, texts.ownPasswordHint(`${frame.base}/profile`))
            : setupLinkRows(frame, id)
    }${!isOwn && linkRow(frame, account)}${secondFactorRow(frame, account, isOwn)}${actionRow(frame, {
      path: `/accounts/${id}/${isVerified ? 'unverify' : 'verify'}`,
      text: isVerified ? texts.emailVerified : texts.emailNotVerified,
      hint: texts.verifiedHint,
      button: isVerified ? texts.unverify : texts.verify,
      asked: ownPasswordField(frame, account, { idPrefix: 'verify' }),
    })}${
      isOwn
        ? factRow(texts.own, texts.ownHint)
        : isDisabled
          ? actionRow(frame, {
              path: `/accounts/${id}/enable`,
              text: texts.isDisabled,
              hint: texts.isDisabledHint,
              button: texts.enable,
            })
          : disableRow(frame, id)
    }`,
  })
}

/** The owner's identities at OpenID providers. */
function linkRow(frame: PageFrame, { id, portal: { identities } }: Account): Html | undefined {
  if (identities.length === 0) return undefined
  const texts = frame.texts.accountPage
  const known = identities.map(({ issuer, subject }) => `${issuer}: ${subject}`).join('; ')
  return actionRow(frame, {
    path: `/accounts/${id}/unlink`,
    text: texts.linked(identities.length),
    hint: texts.linkedHint(known),
    button: texts.unlink,
  })
}

function disableRow(frame: PageFrame, id: string): Html {
  const texts = frame.texts.accountPage
  return html`<div class="act-row"><div><p>${texts.isEnabled}</p><p class="hint">${texts.isEnabledHint}</p></div>${confirmationForm(
    frame,
    {
      action: `/accounts/${id}/disable`,
      text: texts.disable,
      consequence: texts.disableConsequence,
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
  const { secretKey, apiKey } = keys
  const { id } = account
  const { accounts, accountPage: texts, keys: ofKeys } = frame.texts
  // Identifies the key to replace, so that a form that is submitted twice resets it only once.
  const replaces = ({ createdAt }: KeyStatus) => hidden({ replaces: createdAt })
  const { summary, submit } = newKeyWords(ofKeys.secretKey, secretKey)
  return card({
    title: accounts.keys,
    body: html`<dl class="facts">${keyFacts(frame, 'secretKey', secretKey)}${keyFacts(frame, 'apiKey', apiKey)}</dl>
${overlapPart(frame, keys, { endPath: `/accounts/${id}/end-overlap` })}
<div class="acts-list">${foldedForm(frame, {
      summary,
      action: `/accounts/${id}/reset-secret-key`,
      body: html`${replaces(secretKey)}${overlapField(frame, secretKey, emptyForm)}${ownPasswordField(frame, account, { idPrefix: 'secret' })}<div>${submit}</div>`,
    })}${foldedForm(frame, {
      summary: ofKeys.apiKey.resetSummary,
      action: `/accounts/${id}/reset-api-key`,
      body: html`${replaces(apiKey)}<p class="muted">${texts.resetApiKeyHint}</p>${ownPasswordField(frame, account, { idPrefix: 'api' })}<div><button class="danger primary">${ofKeys.apiKey.reset}</button></div>`,
    })}</div>`,
  })
}

function keyFacts(frame: PageFrame, kind: KeyKind, { exists, createdAt, lastUse }: KeyStatus): Html {
  const { accountPage: ofPage, keys: texts, parts } = frame.texts
  if (!exists) return html`<div><dt>${texts[kind].title}</dt><dd>${texts[kind].none}</dd></div>`
  return html`<div><dt>${ofPage[`${kind}Created`]}</dt><dd>${time(createdAt, frame)}</dd></div><div><dt>${parts.lastUsed}</dt><dd>${
    lastUse
      ? ofPage.lastUse(time(lastUse.at, frame), lastUse.address)
      : html`<span class="muted">${texts.never}</span>`
  }</dd></div>`
}

function dangerCard({ base, texts: { accountPage: texts } }: PageFrame, { id }: Account): Html {
  return card({
    title: texts.delete,
    lead: texts.deleteLead,
    aside: html`<a class="button danger" href="${base}/accounts/${id}/delete">${texts.deleteAccount}</a>`,
    body: '',
  })
}
