import type { KeyStatus } from '#accounts/keys/default-keys.ts'
import { type Carriers, describeCarriers } from '#identity/access.ts'
import { type PageMoment, relativeTime, time } from '#platform/pages/format.ts'
import { attributeIf, card, type Html, html, notice, staticNotice } from '#platform/pages/html.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import { listText } from '#platform/text.ts'
import { spanText } from '#platform/time.ts'
import type { KeyUse } from '#store/key-store.ts'
import { button, fieldError, foldedForm, form, formMessage, hasErrors, hidden } from '../form.ts'
import type { FormState, PageFrame } from '../frame.ts'
import { copyButton, maskKey } from '../parts.ts'
import { currentPasswordField } from '../proof-fields.ts'

/** A key that this page reveals. */
export interface ShownKey {
  readonly key: string
  /** Set if the key was just created: how long the previous one keeps working; 0 for an API key. */
  readonly replacement?: { readonly graceSeconds: number } | undefined
}

interface KeyCardView {
  readonly kind: KeyKind
  readonly accountId: string
  /** Where the gateway takes secret keys. */
  readonly carriers: Carriers
  readonly status: KeyStatus
  readonly shown: ShownKey | undefined
  readonly reveal: FormState
  readonly reset: FormState
  /** Shown between the key and its actions. */
  readonly overlap?: Html | undefined
}

const keyPaths = {
  secretKey: '/integration/secret-key',
  apiKey: '/integration/api-key',
} as const satisfies Readonly<Record<KeyKind, string>>

/** How long an old key may go on working, in seconds. */
export const graceChoices = [0, 3_600, 86_400, 604_800] as const

/** A card about one key: its facts and its actions. */
export function keyCard(frame: PageFrame, view: KeyCardView): Html {
  const { kind, carriers, status, overlap, shown } = view
  const texts = frame.texts.keys
  return card({
    title: texts[kind].title,
    lead:
      kind === 'apiKey'
        ? texts.apiKeyLead
        : texts.secretKeyLead(listText(describeCarriers(carriers, texts.carriers), frame.locale)),
    id: kind,
    body: html`${shown?.replacement && html`<div data-replacement>${notice('good', replacementText(frame, kind, shown.replacement), true)}</div>`}${keyValue(frame, view)}
${keyFacts(status, frame)}
${overlap}
<div class="acts-list">${status.isRevealable && revealSection(frame, view)}${resetSection(frame, view)}</div>`,
  })
}

function replacementText(
  { texts: { keys }, locale }: PageFrame,
  kind: KeyKind,
  { graceSeconds }: NonNullable<ShownKey['replacement']>,
): string {
  return keys[kind].replaced(graceSeconds === 0 ? undefined : spanText(graceSeconds * 1_000, locale))
}

/** The script hides a key that came with the page after a minute, like one that it has revealed itself. */
function keyValue(frame: PageFrame, { kind, accountId, shown, status }: KeyCardView): Html {
  const { keys } = frame.texts
  const texts = keys[kind]
  const masked = maskKey(kind, accountId, status.lastFour)
  return html`<div><div class="secret${shown === undefined && ' masked'}" data-key="${kind}" data-masked="${masked}"><code>${
    shown?.key ?? masked
  }</code><div class="row">${copyButton(frame, texts.name)}<button type="button" class="small" data-hide hidden aria-label="${texts.hideName}">${keys.hide}</button></div></div>
<p class="hint" role="status" data-message>${shown !== undefined && (status.isRevealable ? texts.shownHere : texts.shownOnce)}</p></div>`
}

function keyFacts({ createdAt, lastUse }: KeyStatus, frame: PageFrame): Html {
  const texts = frame.texts.keys
  return html`<dl class="facts"><div><dt>${texts.created}</dt><dd>${time(createdAt, frame)}</dd></div>${
    lastUse
      ? html`<div><dt>${texts.lastUsed}</dt><dd>${time(lastUse.at, frame)}</dd></div>
<div><dt>${texts.address}</dt><dd>${lastUse.address}</dd></div><div><dt>${texts.usedFor}</dt><dd>${lastUse.scheme === 'secretKey' ? texts.apiRequest : texts.accessToken}</dd></div>`
      : html`<div><dt>${texts.lastUsed}</dt><dd class="muted">${texts.never}</dd></div>`
  }</dl>`
}

function revealSection(frame: PageFrame, { kind, reveal, shown }: KeyCardView): Html {
  const { keys } = frame.texts
  return html`<details class="act" data-reveal-section${attributeIf(shown !== undefined, 'hidden')}${attributeIf(hasErrors(reveal), 'open')}><summary>${keys[kind].reveal}</summary>${form(
    frame,
    {
      action: `${keyPaths[kind]}/reveal`,
      data: ['reveal', kind],
      body: html`${formMessage(reveal, true)}${currentPasswordField(frame, reveal, `${kind}-reveal-`)}<div>${button(keys.reveal, 'primary')}</div>
<template>${fieldError(`${kind}-reveal-password-error`, '')}</template>`,
    },
  )}</details>`
}

function resetSection(frame: PageFrame, { kind, reset, status }: KeyCardView): Html {
  const texts = frame.texts.keys[kind]
  return foldedForm(frame, {
    summary: texts.resetSummary,
    state: reset,
    action: `${keyPaths[kind]}/reset`,
    body: html`<p class="muted">${texts.resetLead}</p>${formMessage(reset, true)}
${hidden({ replaces: status.createdAt })}
${kind === 'secretKey' && overlapField(frame, reset)}
${currentPasswordField(frame, reset, `${kind}-reset-`)}<div>${button(texts.reset, 'danger primary')}</div>`,
  })
}

/** The choice of how long the old secret key keeps working. */
export function overlapField({ texts: { keys }, locale }: PageFrame, { values, errors }: FormState): Html {
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

interface OverlapView {
  /** When the new secret was created. */
  readonly since: number
  readonly validUntil: number
  readonly lastUse: KeyUse | undefined
}

/**
 * Shown while two secrets are valid, with the last use of the old one.
 * @param endPath path of the form that revokes the old one, below the portal
 * @param usagePath path that the script polls for the current state, below the portal
 */
export function overlapPart(
  frame: PageFrame,
  overlap: OverlapView,
  { endPath, usagePath }: { readonly endPath: string; readonly usagePath?: string },
): Html {
  const { base, texts } = frame
  return html`<div${usagePath !== undefined && html` data-live="${base}${usagePath}"`}>${staticNotice(
    'warn',
    html`<p>${texts.keys.twoValid(time(overlap.validUntil, frame))}</p>
<p aria-live="polite" data-usage>${usageText(overlap, frame)}</p>
${endForms(frame, endPath, isInUse(overlap))}`,
  )}</div>`
}

/**
 * Revokes at once if nothing uses the secret, otherwise after a confirmation; the script switches when that changes.
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
export function isInUse({ lastUse, since }: OverlapView): boolean {
  return lastUse !== undefined && lastUse.at >= since
}

/** A sentence on whether the old secret key is still used. */
export function usageText(overlap: OverlapView, moment: PageMoment & Pick<PageFrame, 'texts'>): string {
  const { lastUse } = overlap
  const texts = moment.texts.keys
  if (!lastUse) return texts.unused
  const use = texts.use(relativeTime(lastUse.at, moment), lastUse.address)
  return isInUse(overlap) ? texts.inUse(use) : texts.unusedSince(use)
}
