import type { DefaultKeysStatus } from '#accounts/keys/default-keys.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import { formatCount, formatDuration, time } from '#platform/pages/format.ts'
import { badge, card, emptyState, type Html, html, icon, notice, staticNotice } from '#platform/pages/html.ts'
import { listText } from '#platform/text.ts'
import { dayMs, type EpochMs, spanText } from '#platform/time.ts'
import { type FormState, type PageFrame, type RefusedForm, stateOf } from '../frame.ts'
import { actsRow, cell, copyButton, titleRow } from '../parts.ts'
import { certificateForm, createForm, renameForm, revokeForm, rotateForm } from './further-key-forms.ts'

export interface FurtherKeysView {
  readonly keys: DefaultKeysStatus
  /** The secret keys other than the default one. */
  readonly furtherKeys: readonly SecretKeyStatus[]
  readonly createdKey?: CreatedKey | undefined
  /** The form of a key that was refused. */
  readonly refusedKeyForm?: RefusedKeyForm | undefined
  /** The form for a new key, if it was refused. */
  readonly refusedKey?: FormState | undefined
  /** The form for a certificate, if it was refused. */
  readonly refusedCertificate?: FormState | undefined
}

interface CreatedKey {
  readonly name: string
  readonly key: string
  /** Set if it replaces another key: how long that one keeps working. */
  readonly graceSeconds?: number
}

interface RefusedKeyForm extends RefusedForm<'rotate' | 'rename'> {
  readonly name: string
}

/** The secret keys other than the default one: each for one program, limited to what it needs. */
export function furtherKeysCard(frame: PageFrame, view: FurtherKeysView, acceptsCertificates: boolean): Html {
  const { furtherKeys, createdKey, refusedKey, refusedCertificate, refusedKeyForm } = view
  const { furtherKeys: texts, keys } = frame.texts
  const text = view.keys.secretKey.exists ? texts.onlyDefault : keys.secretKey.none
  return card({
    title: texts.title,
    lead: texts.lead,
    id: 'further-keys',
    isFlush: true,
    body: html`${createdKey && createdPart(frame, createdKey)}${expiryNotice(frame, furtherKeys)}${
      furtherKeys.length === 0
        ? emptyState({ icon: icon('key'), title: texts.none, text })
        : keyTable(frame, furtherKeys, (key) => ownActs(frame, key, refusedKeyForm))
    }<footer>${createForm(frame, refusedKey)}${acceptsCertificates && certificateForm(frame, refusedCertificate)}</footer>`,
  })
}

/** The further keys of an account, for Admins, who can revoke them; nothing if it has none. */
export function accountFurtherKeysCard(
  frame: PageFrame,
  keys: readonly SecretKeyStatus[],
  accountId: string,
): Html | undefined {
  if (keys.length === 0) return undefined
  const { title, othersLead: lead } = frame.texts.furtherKeys
  return card({
    title,
    lead,
    id: 'further-keys',
    isFlush: true,
    body: keyTable(frame, keys, (key) => revokeForm(frame, key, `/accounts/${accountId}/keys`)),
  })
}

function createdPart(frame: PageFrame, { name, key, graceSeconds }: CreatedKey): Html {
  const texts = frame.texts.furtherKeys
  const span = graceSeconds ? graceText(graceSeconds, frame) : undefined
  const text = graceSeconds === undefined ? texts.created(name) : texts.rotated(name, span)
  return html`<div class="inset">${notice('good', text, true)}<div class="secret"><code>${key}</code>${copyButton(frame, texts.keyName(name))}</div></div>`
}

/** Whole hours as they were chosen; anything else is what was left to the key. */
function graceText(seconds: number, { locale }: PageFrame): string {
  return seconds % 3_600 === 0 ? spanText(seconds * 1_000, locale) : formatDuration(seconds)
}

/** How long before its end a key is marked as ending soon. */
const warnMs = 7 * dayMs

function isEndNear({ state, revokedAt, expiresAt }: SecretKeyStatus, now: EpochMs): boolean {
  return state === 'valid' && revokedAt === undefined && expiresAt !== undefined && expiresAt - now <= warnMs
}

function expiryNotice(frame: PageFrame, keys: readonly SecretKeyStatus[]): Html | undefined {
  const ending = keys.filter((key) => isEndNear(key, frame.now))
  if (ending.length === 0) return undefined
  const texts = frame.texts.furtherKeys
  const lines = ending.map(
    ({ name, expiresAt = frame.now }) => html`<p>${texts.expires(name, time(expiresAt, frame))}</p>`,
  )
  return html`<div class="inset">${staticNotice('warn', html`${lines}<p>${texts.rotateInTime}</p>`)}</div>`
}

/** @param acts what can be done to a key */
function keyTable(
  frame: PageFrame,
  keys: readonly SecretKeyStatus[],
  acts: (key: SecretKeyStatus) => Html,
): Html {
  const { name, created, lastUsed, expires } = frame.texts.parts
  const titles = [name, frame.texts.furtherKeys.mayUse, created, lastUsed, expires]
  return html`<table>${titleRow(titles)}${keys.map(
    (key) => html`<tbody>${keyRow(frame, key)}${actsRow(titles.length, acts(key))}</tbody>`,
  )}</table>`
}

/** What can be done to one's own key. One that was replaced, and ends soon, can only be made to end sooner. */
function ownActs(frame: PageFrame, key: SecretKeyStatus, refused: RefusedKeyForm | undefined): Html {
  const refusedHere = refused?.name === key.name ? refused : undefined
  return html`${
    key.revokedAt === undefined &&
    html`${rotateForm(frame, key, stateOf(refusedHere, 'rotate'))}${renameForm(frame, key, stateOf(refusedHere, 'rename'))}`
  }${revokeForm(frame, key, '/integration/keys')}`
}

function keyRow(frame: PageFrame, key: SecretKeyStatus): Html {
  const { name, createdAt, lastUse, isImported } = key
  const { furtherKeys: texts, keys, parts } = frame.texts
  const used = lastUse
    ? html`${time(lastUse.at, frame)} <code class="sub">${lastUse.address}</code>`
    : html`<span class="muted">${keys.never}</span>`
  return html`<tr>${[
    cell(
      parts.name,
      html`<code>${name}</code> ${isImported && badge('plain', texts.madeElsewhere)}${key.lastFour !== undefined && html`<code class="sub">…${key.lastFour}</code>`}`,
    ),
    cell(texts.mayUse, accessOf(frame, key)),
    cell(parts.created, time(createdAt, frame)),
    cell(parts.lastUsed, used),
    cell(parts.expires, endOf(key, frame)),
  ]}</tr>`
}

const namedRoutesMax = 5

function accessOf(frame: PageFrame, { scopes, addresses, quota }: SecretKeyStatus): Html {
  const { texts, locale } = frame
  const { mayAll, onlyFrom, quotaOf } = texts.furtherKeys
  const what = scopes.length === 0 ? mayAll : openedBy(frame, scopes)
  const from = addresses.length > 0 && html`<span class="sub">${onlyFrom(listText(addresses, locale))}</span>`
  const often =
    quota &&
    html`<span class="sub">${quotaOf(formatCount(quota.limit, locale), quota.per, frame.quotaUnit)}</span>`
  return html`${what}${from}${often}`
}

/** The routes that a key with scopes may call, as far as its account may. */
function openedBy({ scopedRoutes, texts: { furtherKeys } }: PageFrame, scopes: readonly string[]): Html {
  const opened = scopedRoutes.filter((route) => route.scopes.every((scope) => scopes.includes(scope)))
  const named = opened.slice(0, namedRoutesMax).map(({ text }) => html`<code class="route">${text}</code>`)
  const which =
    opened.length === 0 ? furtherKeys.mayNothing : furtherKeys.mayOnly(named, opened.length - named.length)
  return html`${which}<span class="sub">${furtherKeys.scopesOf(scopes)}</span>`
}

function endOf(key: SecretKeyStatus, frame: PageFrame): Html {
  const { state, expiresAt, revokedAt } = key
  const { expired, ends, expiresSoon } = frame.texts.furtherKeys
  if (state === 'expired') return html`${badge('bad', expired)} ${time(expiresAt ?? frame.now, frame)}`
  if (revokedAt !== undefined) return html`${badge('warn', ends)} ${time(revokedAt, frame)}`
  if (expiresAt === undefined) return html`<span class="muted">${frame.texts.parts.never}</span>`
  return html`${isEndNear(key, frame.now) && html`${badge('warn', expiresSoon)} `}${time(expiresAt, frame)}`
}
