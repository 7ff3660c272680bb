import { passkeyNameLengthMax, passkeysMax } from '#identity/second-factor/passkeys.ts'
import { time } from '#platform/pages/format.ts'
import { attributeIf, type Content, card, emptyState, type Html, html, icon } from '#platform/pages/html.ts'
import type { Passkey, SecondFactor } from '#store/portal-access.ts'
import { field, fieldError, foldedForm, form, formMessage, hidden } from './form.ts'
import {
  emptyForm,
  type FormState,
  type FramePasskeys,
  type PageFrame,
  type RefusedForm,
  stateOf,
} from './frame.ts'
import { page } from './layout.ts'
import { actsRow, cell, titleRow } from './parts.ts'
import { proofFields } from './proof-fields.ts'

interface PasskeyFormOptions {
  readonly action: string
  /** Where the script gets the options to ask the browser with; a path below the portal. */
  readonly options: string
  readonly isNew?: boolean
  readonly state: FormState
  readonly body: Content
  readonly text: string
  /** The class of the button. */
  readonly look: string
}

/** A form whose script asks the browser for a passkey before it is sent. */
export function passkeyForm(
  frame: PageFrame,
  { origin }: FramePasskeys,
  { action, options, isNew = false, state, body, text, look }: PasskeyFormOptions,
): Html {
  const error = state.errors.credential
  return form(frame, {
    action,
    data: ['passkey', isNew ? 'create' : 'get'],
    body: html`${formMessage(state, true)}${body}${hidden({ credential: '' })}
${error !== undefined && html`<div role="alert">${fieldError(`${action.slice(1)}-error`, error)}</div>`}<p class="wrong" role="alert" data-passkey-error hidden></p>
<noscript><p class="hint">${frame.texts.passkeys.needScript}</p></noscript>
<div><button class="${look}" data-options="${frame.base}${options}" data-origin="${origin}">${icon('key')}${text}</button></div>`,
  })
}

export type PasskeyFormName = 'add' | 'rename' | 'remove'

export interface RefusedPasskeyForm extends RefusedForm<PasskeyFormName> {
  /** The passkey; empty = a new one. */
  readonly id: string
}

/** One's own passkeys. */
export function passkeysCard(
  frame: PageFrame,
  factor: SecondFactor | undefined,
  refused: RefusedPasskeyForm | undefined,
): Html | undefined {
  if (!frame.passkeys) return undefined
  const passkeys = factor?.passkeys ?? []
  const texts = frame.texts.passkeys
  const list =
    passkeys.length === 0
      ? emptyState({
          icon: icon('key'),
          title: texts.none,
          text: texts.noneText,
        })
      : passkeyTable(frame, passkeys, factor, refused)
  return card({
    title: texts.title,
    lead: texts.lead,
    id: 'passkeys',
    isFlush: true,
    body: html`${list}<footer>${addForm(frame, frame.passkeys, factor, refused?.form === 'add' ? refused.state : undefined)}</footer>`,
  })
}

function passkeyTable(
  frame: PageFrame,
  passkeys: readonly Passkey[],
  factor: SecondFactor | undefined,
  refused: RefusedPasskeyForm | undefined,
): Html {
  const { passkeys: texts, parts } = frame.texts
  const titles = [parts.name, texts.added, parts.lastUsed]
  return html`<table>${titleRow(titles)}${passkeys.map((passkey) => {
    const { id, name, createdAt, usedAt } = passkey
    const refusedHere = refused?.id === id ? refused : undefined
    const used = usedAt === undefined ? html`<span class="muted">${parts.never}</span>` : time(usedAt, frame)
    return html`<tbody><tr>${cell(parts.name, name)}${cell(texts.added, time(createdAt, frame))}${cell(parts.lastUsed, used)}</tr>
${actsRow(titles.length, [
  renameForm(frame, passkey, stateOf(refusedHere, 'rename')),
  removeForm(frame, passkey, factor, stateOf(refusedHere, 'remove')),
])}</tbody>`
  })}</table>`
}

function renameForm(frame: PageFrame, { id, name }: Passkey, state: FormState): Html {
  const { passkeys: texts, parts } = frame.texts
  return foldedForm(frame, {
    summary: html`${parts.rename}…<span class="visually-hidden"> ${texts.ofPasskey(name)}</span>`,
    state,
    action: '/profile/two-factor/passkeys/rename',
    body: html`${formMessage(state, true)}${hidden({ id })}${field(state, {
      name: 'to',
      label: parts.newName,
      value: name,
      lengthMax: passkeyNameLengthMax,
      idPrefix: `rename-${id}-`,
      autocomplete: 'off',
    })}<div><button class="primary">${parts.rename}</button></div>`,
  })
}

function removeForm(
  frame: PageFrame,
  { id, name }: Passkey,
  factor: SecondFactor | undefined,
  state: FormState,
): Html {
  const error = state.errors.id
  const texts = frame.texts.passkeys
  const isLast = factor?.passkeys?.length === 1 && factor.sealed === undefined
  return foldedForm(frame, {
    summary: html`${texts.remove}…<span class="visually-hidden"> ${texts.ofPasskey(name)}</span>`,
    isDanger: true,
    state,
    action: '/profile/two-factor/passkeys/remove',
    body: html`${formMessage(state, true)}${error !== undefined && html`<div role="alert">${fieldError(`remove-${id}-error`, error)}</div>`}<p>${isLast ? texts.removeLastHint : texts.removeHint}</p>
${hidden({ id })}${proofFields(frame, state, { idPrefix: `remove-${id}-`, factor })}<div><button class="danger primary">${texts.remove}</button></div>`,
  })
}

function addForm(
  frame: PageFrame,
  passkeys: FramePasskeys,
  factor: SecondFactor | undefined,
  state: FormState | undefined,
): Html {
  const count = factor?.passkeys?.length ?? 0
  const texts = frame.texts.passkeys
  if (count >= passkeysMax) return html`<p class="muted">${texts.tooMany(count)}</p>`
  const shown = state ?? emptyForm
  return html`<details class="act"${attributeIf(state !== undefined, 'open')}><summary>${texts.addSummary}</summary>${passkeyForm(
    frame,
    passkeys,
    {
      action: '/profile/two-factor/passkeys/add',
      options: '/profile/two-factor/passkeys/options',
      isNew: true,
      state: shown,
      body: html`${field(shown, {
        name: 'name',
        label: frame.texts.parts.name,
        hint: texts.nameHint,
        value: texts.nameFor(count + 1),
        lengthMax: passkeyNameLengthMax,
        idPrefix: 'passkey-',
        autocomplete: 'off',
      })}${proofFields(frame, shown, { idPrefix: 'passkey-', factor })}`,
      text: texts.add,
      look: 'primary',
    },
  )}</details>`
}

/** Asks for a passkey instead of password and code. */
export function confirmByPasskeyPage(frame: PageFrame, state: FormState & { readonly next: string }): Html {
  const { passkeys } = frame
  const texts = frame.texts.passkeys.confirm
  return page(frame, {
    title: texts.title,
    body:
      passkeys &&
      card({
        title: texts.use,
        lead: texts.lead,
        body: passkeyForm(frame, passkeys, {
          action: '/confirm/passkey',
          options: '/confirm/passkey/options',
          state,
          body: hidden({ next: state.next }),
          text: texts.submit,
          look: 'primary',
        }),
      }),
  })
}
