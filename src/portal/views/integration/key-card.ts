import type { DefaultKeysStatus, KeyStatus } from '#accounts/keys/default-keys.ts'
import { type Carriers, describeCarriers } from '#identity/carriers.ts'
import { type PageMoment, relativeTime, time } from '#platform/pages/format.ts'
import { attributeIf, card, type Html, html, notice, staticNotice } from '#platform/pages/html.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import { listText } from '#platform/text.ts'
import { spanText } from '#platform/time.ts'
import type { KeyUse } from '#store/keys.ts'
import { button, fieldError, foldedForm, form, formMessage, hasErrors, hidden } from '../form.ts'
import { type FormState, type PageFrame, type RefusedForm, stateOf } from '../frame.ts'
import { copyButton, maskKey } from '../parts.ts'
import { currentPasswordField } from '../proof-fields.ts'

export interface KeyCardsView {
  readonly accountId: string
  readonly keys: DefaultKeysStatus
  readonly snippets: { readonly carriers: Carriers }
  /** The key that this page reveals. */
  readonly shown?: ShownKey | undefined
  readonly refused?: (RefusedForm<'reveal' | 'reset'> & { readonly kind: KeyKind }) | undefined
}

interface ShownKey {
  readonly kind: KeyKind
  readonly key: string
  /** Set if the key was just created: how long the previous one keeps working; 0 for an API key. */
  readonly replacement?: { readonly graceSeconds: number } | undefined
}

const keyPaths = {
  secretKey: '/integration/secret-key',
  apiKey: '/integration/api-key',
} as const satisfies Readonly<Record<KeyKind, string>>

/** How long an old key may go on working, in seconds. */
export const graceChoices = [0, 3_600, 86_400, 604_800] as const

/** One of the two keys, on its card. */
interface CardKey extends Pick<KeyCardsView, 'accountId' | 'shown' | 'refused'> {
  readonly kind: KeyKind
  readonly status: KeyStatus
}

/** A card about one key: its facts and its actions. */
export function keyCard(frame: PageFrame, view: KeyCardsView, kind: KeyKind): Html {
  const { accountId, keys, snippets } = view
  const shown = view.shown?.kind === kind ? view.shown : undefined
  const refused = view.refused?.kind === kind ? view.refused : undefined
  const key: CardKey = { kind, accountId, status: keys[kind], shown, refused }
  const texts = frame.texts.keys
  return card({
    title: texts[kind].title,
    lead:
      kind === 'apiKey'
        ? texts.apiKeyLead
        : texts.secretKeyLead(listText(describeCarriers(snippets.carriers, texts.carriers), frame.locale)),
    id: kind,
    body: html`${shown?.replacement && html`<div data-replacement>${notice('good', replacementText(frame, kind, shown.replacement), true)}</div>`}${
      key.status.exists
        ? html`${keyValue(frame, key)}
${keyFacts(key.status, frame)}`
        : staticNotice('warn', texts[kind].none)
    }
${
  kind === 'secretKey' &&
  overlapPart(frame, keys, {
    endPath: '/integration/secret-key/end-overlap',
    usagePath: '/integration/usage',
  })
}
<div class="acts-list">${key.status.isRevealable && revealSection(frame, key)}${resetSection(frame, key)}</div>`,
  })
}

function replacementText(
  { texts: { keys }, locale }: PageFrame,
  kind: KeyKind,
  { graceSeconds }: NonNullable<ShownKey['replacement']>,
): string {
  return keys[kind].replaced(graceSeconds === 0 ? undefined : spanText(graceSeconds * 1_000, locale))
}

/** After a minute, the script hides a key that came with the page, as it hides one that it has revealed itself. */
function keyValue(frame: PageFrame, { kind, accountId, shown, status }: CardKey): Html {
  const { keys } = frame.texts
  const texts = keys[kind]
  const masked = maskKey(kind, accountId, status.lastFour)
  return html`<div><div class="secret${shown === undefined && ' masked'}" data-key="${kind}" data-masked="${masked}"><code>${
    shown?.key ?? masked
  }</code><div class="row">${copyButton(frame, texts.name)}<button type="button" class="small" data-hide hidden aria-label="${texts.hideName}">${keys.hide}</button></div></div>
<p class="hint" role="status" data-message>${shown !== undefined && (status.isRevealable ? texts.shownHere : texts.shownOnce)}</p></div>`
}

function keyFacts({ createdAt, lastUse }: KeyStatus, frame: PageFrame): Html {
  const { keys: texts, parts } = frame.texts
  return html`<dl class="facts"><div><dt>${parts.created}</dt><dd>${time(createdAt, frame)}</dd></div>${
    lastUse
      ? html`<div><dt>${parts.lastUsed}</dt><dd>${time(lastUse.at, frame)}</dd></div>
<div><dt>${parts.address}</dt><dd>${lastUse.address}</dd></div><div><dt>${texts.usedFor}</dt><dd>${lastUse.scheme === 'secretKey' ? texts.apiRequest : texts.accessToken}</dd></div>`
      : html`<div><dt>${parts.lastUsed}</dt><dd class="muted">${texts.never}</dd></div>`
  }</dl>`
}

function revealSection(frame: PageFrame, { kind, shown, refused }: CardKey): Html {
  const { keys } = frame.texts
  const state = stateOf(refused, 'reveal')
  return html`<details class="act" data-reveal-section${attributeIf(shown !== undefined, 'hidden')}${attributeIf(hasErrors(state), 'open')}><summary>${keys[kind].reveal}</summary>${form(
    frame,
    {
      action: `${keyPaths[kind]}/reveal`,
      data: ['reveal', kind],
      body: html`${formMessage(state, true)}${currentPasswordField(frame, state, `${kind}-reveal-`)}<div>${button(keys.reveal, 'primary')}</div>
<template>${fieldError(`${kind}-reveal-password-error`, '')}</template>`,
    },
  )}</details>`
}

function resetSection(frame: PageFrame, { kind, status, refused }: CardKey): Html {
  const { exists, createdAt } = status
  const texts = frame.texts.keys[kind]
  const state = stateOf(refused, 'reset')
  const { summary, submit } = newKeyWords(texts, status)
  return foldedForm(frame, {
    summary,
    state,
    action: `${keyPaths[kind]}/reset`,
    body: html`${exists && html`<p class="muted">${texts.resetLead}</p>`}${formMessage(state, true)}
${hidden({ replaces: createdAt })}
${kind === 'secretKey' && overlapField(frame, status, state)}
${currentPasswordField(frame, state, `${kind}-reset-`)}<div>${submit}</div>`,
  })
}

/** What the form for a new key says: whether there is one that it replaces. */
export function newKeyWords(texts: PageFrame['texts']['keys'][KeyKind], { exists }: KeyStatus) {
  return exists
    ? { summary: texts.resetSummary, submit: button(texts.reset, 'danger primary') }
    : { summary: texts.createSummary, submit: button(texts.create, 'primary') }
}

/** The choice of how long the old secret key keeps working, if there is one. */
export function overlapField(
  { texts: { keys }, locale }: PageFrame,
  { exists }: KeyStatus,
  { values, errors }: FormState,
): Html {
  if (!exists) return hidden({ graceSeconds: 0 })
  const chosen = values.graceSeconds ?? '86400'
  const error = errors.graceSeconds
  return html`<fieldset class="field"${error !== undefined && html` aria-describedby="graceSeconds-error"`}><legend>${keys.keepOld}</legend>
<div class="choices">${graceChoices.map(
    (seconds) =>
      html`<label><input type="radio" name="graceSeconds" value="${seconds}"${attributeIf(chosen === String(seconds), 'checked')}>${seconds === 0 ? keys.revokeNow : spanText(seconds * 1_000, locale)}</label>`,
  )}</div>
<p class="hint">${keys.revokeNowHint}</p>
${error !== undefined && fieldError('graceSeconds-error', error)}</fieldset>`
}

interface Overlap {
  /** When the new secret key was created; 0 = there is none. */
  readonly since: number
  readonly validUntil: number
  readonly lastUse: KeyUse | undefined
}

/** undefined = no previous secret key is valid. */
export function overlapOf({
  previousSecretKey: previous,
  secretKey,
}: DefaultKeysStatus): Overlap | undefined {
  return previous && { ...previous, since: secretKey.createdAt }
}

/**
 * Shown while the old secret key is valid, with its last use.
 * @param endPath path of the form that revokes the old one, below the portal
 * @param usagePath path that the script polls for the current state, below the portal
 */
export function overlapPart(
  frame: PageFrame,
  keys: DefaultKeysStatus,
  { endPath, usagePath }: { readonly endPath: string; readonly usagePath?: string },
): Html | undefined {
  const overlap = overlapOf(keys)
  if (!overlap) return undefined
  const { base, texts } = frame
  const said = keys.secretKey.exists ? texts.keys.twoValid : texts.keys.stillValid
  return html`<div${usagePath !== undefined && html` data-live="${base}${usagePath}"`}>${staticNotice(
    'warn',
    html`<p>${said(time(overlap.validUntil, frame))}</p>
<p aria-live="polite" data-usage>${usageText(overlap, frame)}</p>
${endForms(frame, endPath, isInUse(overlap))}`,
  )}</div>`
}

/**
 * Revokes at once if nothing uses the old secret key, otherwise after a confirmation; the script switches between the
 * two forms when that changes.
 */
function endForms(frame: PageFrame, action: string, isUsed: boolean): Html {
  const texts = frame.texts.keys
  const atOnce = form(frame, { action, class: 'inline', body: button(texts.revokeNow, 'small danger') })
  const confirmed = foldedForm(frame, {
    summary: texts.confirmRevokeNow,
    action,
    body: html`<p>${texts.stillUsedRefused}</p><div>${button(texts.revokeNow, 'danger primary')}</div>`,
  })
  return html`<div data-end="unused"${attributeIf(isUsed, 'hidden')}>${atOnce}</div>
<div class="acts-list" data-end="used"${attributeIf(!isUsed, 'hidden')}>${confirmed}</div>`
}

/** Whether the old secret key was used since the reset. */
export function isInUse({ lastUse, since }: Overlap): boolean {
  return lastUse !== undefined && lastUse.at >= since
}

/** A sentence on whether the old secret key is still used. */
export function usageText(overlap: Overlap, moment: PageMoment & Pick<PageFrame, 'texts'>): string {
  const { lastUse } = overlap
  const texts = moment.texts.keys
  if (!lastUse) return texts.unused
  const use = texts.use(relativeTime(lastUse.at, moment), lastUse.address)
  return isInUse(overlap) ? texts.inUse(use) : texts.unusedSince(use)
}
