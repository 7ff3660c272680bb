import type { KeyStatus } from '#accounts/account-keys.ts'
import { type Carriers, describeCarriers } from '#identity/keys/carriers.ts'
import { type PageMoment, relativeTime, time } from '#platform/pages/format.ts'
import { attributeIf, type Content, type Html, html } from '#platform/pages/html.ts'
import { card, notice, staticNotice } from '#platform/pages/parts.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import { listText } from '#platform/text.ts'
import type { KeyUse } from '#store/keys.ts'
import { button, currentPasswordField, fieldError, foldedForm, form, formMessage, hasErrors } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { copyButton, maskKey } from './parts.ts'

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

interface KeyLabels {
  readonly title: string
  readonly lead: (carriers: Carriers) => Content
  readonly path: string
  readonly noun: string
  readonly resetLead: string
}

const keyLabels: Readonly<Record<KeyKind, KeyLabels>> = {
  secretKey: {
    title: 'Secret key',
    lead: (carriers) =>
      html`Send it ${listText(describeCarriers(carriers))} with each request. Keep it on servers. Documents of the interface also call it API secret or <code>SecretKey</code>.`,
    path: '/integration/secret-key',
    noun: 'secret key',
    resetLead: 'Creates a new secret key. Choose how long the old one keeps working while you switch.',
  },
  apiKey: {
    title: 'API key',
    lead: () => 'Exchange it, with your secret key, for access tokens.',
    path: '/integration/api-key',
    noun: 'API key',
    resetLead:
      'Creates a new key. The old one stops working immediately; access tokens and sessions stay valid.',
  },
}

/** How long a key may go on working. */
export const graces = [
  { seconds: 3_600, text: '1 hour' },
  { seconds: 86_400, text: '24 hours' },
  { seconds: 604_800, text: '7 days' },
] as const
const overlapChoices = [{ seconds: 0, text: 'Revoke now' }, ...graces]

/** A card about one key: its facts and its actions. */
export function keyCard(frame: PageFrame, view: KeyCardView): Html {
  const { kind, carriers, status, overlap, shown } = view
  const { title, lead, noun } = keyLabels[kind]
  return card({
    title,
    lead: lead(carriers),
    id: kind,
    body: html`${shown?.replacement && html`<div data-replacement>${notice('good', replacementText(noun, shown.replacement), true)}</div>`}${keyValue(frame, view)}
${keyFacts(status, frame)}
${overlap}
<div class="acts-list">${status.isRevealable && revealSection(frame, view)}${resetSection(frame, view)}</div>`,
  })
}

function replacementText(noun: string, { graceSeconds }: NonNullable<ShownKey['replacement']>): string {
  const chosen = overlapChoices.find(({ seconds }) => seconds === graceSeconds)?.text
  const old = graceSeconds === 0 ? 'is revoked' : `keeps working for ${chosen ?? `${graceSeconds} seconds`}`
  return `New ${noun}. Copy it now; the old one ${old}.`
}

/** The script hides a key that came with the page after a minute, like one that it has revealed itself. */
function keyValue(frame: PageFrame, { kind, accountId, shown, status }: KeyCardView): Html {
  const { noun } = keyLabels[kind]
  const masked = maskKey(kind, accountId, status.lastFour)
  return html`<div><div class="secret${shown === undefined && ' masked'}" data-key="${kind}" data-masked="${masked}"><code>${
    shown?.key ?? masked
  }</code><div class="row">${copyButton(frame, `the ${noun}`)}<button type="button" class="small" data-hide hidden aria-label="Hide: the ${noun}">Hide</button></div></div>
<p class="hint" role="status" data-message>${shown !== undefined && shownHint(noun, status)}</p></div>`
}

function shownHint(noun: string, { isRevealable }: KeyStatus): string {
  return isRevealable
    ? `Shown on this page only. Store the ${noun} where your programs read it.`
    : `Copy the ${noun} now: it is not stored and cannot be shown again.`
}

function keyFacts({ createdAt, lastUse }: KeyStatus, frame: PageFrame): Html {
  return html`<dl class="facts"><div><dt>Created</dt><dd>${time(createdAt, frame)}</dd></div>${
    lastUse
      ? html`<div><dt>Last used</dt><dd>${time(lastUse.at, frame)}</dd></div>
<div><dt>Address</dt><dd>${lastUse.address}</dd></div><div><dt>Used for</dt><dd>${describeScheme(lastUse)}</dd></div>`
      : html`<div><dt>Last used</dt><dd class="muted">Never</dd></div>`
  }</dl>`
}

function describeScheme({ scheme }: KeyUse): string {
  return scheme === 'secretKey' ? 'API request' : 'Access token'
}

function revealSection(frame: PageFrame, { kind, reveal, shown }: KeyCardView): Html {
  const { noun, path } = keyLabels[kind]
  return html`<details class="act" data-reveal-section${attributeIf(shown !== undefined, 'hidden')}${attributeIf(hasErrors(reveal), 'open')}><summary>Reveal the ${noun}</summary>${form(
    frame,
    {
      action: `${path}/reveal`,
      data: ['reveal', kind],
      body: html`${formMessage(reveal, true)}${currentPasswordField(frame, reveal, `${kind}-reveal-`)}<div>${button('Reveal', 'primary')}</div>
<template>${fieldError(`${kind}-reveal-password-error`, '')}</template>`,
    },
  )}</details>`
}

function resetSection(frame: PageFrame, { kind, reset, status }: KeyCardView): Html {
  const { noun, path, resetLead } = keyLabels[kind]
  return foldedForm(frame, {
    summary: `Reset the ${noun}…`,
    state: reset,
    action: `${path}/reset`,
    body: html`<p class="muted">${resetLead}</p>${formMessage(reset, true)}
<input type="hidden" name="replaces" value="${status.createdAt}">
${kind === 'secretKey' && overlapField(reset)}
${currentPasswordField(frame, reset, `${kind}-reset-`)}<div>${button(`Reset the ${noun}`, 'danger primary')}</div>`,
  })
}

/** The choice of how long the old secret key keeps working. */
export function overlapField({ values, errors }: FormState): Html {
  const chosen = values.graceSeconds ?? '86400'
  const error = errors.graceSeconds
  return html`<fieldset class="field"${error !== undefined && html` aria-describedby="graceSeconds-error"`}><legend>Keep the old secret key for</legend>
<div class="choices">${overlapChoices.map(
    ({ seconds, text }) =>
      html`<label><input type="radio" name="graceSeconds" value="${seconds}"${attributeIf(chosen === String(seconds), 'checked')}>${text}</label>`,
  )}</div>
<p class="hint">“Revoke now” also revokes the sessions and access tokens created with it.</p>
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
  const { base } = frame
  return html`<div${usagePath !== undefined && html` data-live="${base}${usagePath}"`}>${staticNotice(
    'warn',
    html`<p><strong>Two secret keys are valid.</strong> The old one expires ${time(overlap.validUntil, frame)}.</p>
<p aria-live="polite" data-usage>${usageText(overlap, frame)}</p>
${endForms(frame, endPath, isInUse(overlap))}`,
  )}</div>`
}

/**
 * Revokes at once if nothing uses the secret, otherwise after a confirmation; the script switches when that changes.
 */
function endForms(frame: PageFrame, action: string, isUsed: boolean): Html {
  const atOnce = form(frame, { action, class: 'inline', body: button('Revoke now', 'small danger') })
  const confirmed = foldedForm(frame, {
    summary: 'Revoke now…',
    action,
    body: html`<p>Clients that still use the old secret key will be rejected.</p><div>${button('Revoke now', 'danger primary')}</div>`,
  })
  return html`<div data-end="unused"${attributeIf(isUsed, 'hidden')}>${atOnce}</div>
<div class="acts-list" data-end="used"${attributeIf(!isUsed, 'hidden')}>${confirmed}</div>`
}

/** Whether the old secret key was used since the reset. */
export function isInUse({ lastUse, since }: OverlapView): boolean {
  return lastUse !== undefined && lastUse.at >= since
}

/** A sentence on whether the old secret key is still used. */
export function usageText(overlap: OverlapView, frame: PageMoment): string {
  const { lastUse } = overlap
  if (!lastUse) return 'Not used: safe to revoke.'
  const use = `${relativeTime(lastUse.at, frame)} from ${lastUse.address}`
  if (!isInUse(overlap)) return `Not used since the reset: safe to revoke. Last use before that: ${use}.`
  return `Still in use: last used ${use}.`
}
