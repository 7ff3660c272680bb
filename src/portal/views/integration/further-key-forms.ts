import { certificatePemLengthMax } from '#accounts/keys/certificate-input.ts'
import { keyNameLengthMax } from '#accounts/keys/input.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import { type Content, type Html, html } from '#platform/pages/html.ts'
import {
  button,
  type Choice,
  field,
  fieldError,
  foldedForm,
  formMessage,
  hidden,
  options,
  textArea,
} from '../form.ts'
import { emptyForm, type FormState, type PageFrame } from '../frame.ts'
import { currentPasswordField } from '../proof-fields.ts'
import { graceChoices } from './key-card.ts'

export function rotateForm(frame: PageFrame, { name, createdAt }: SecretKeyStatus, state: FormState): Html {
  const texts = frame.texts.furtherKeys
  return foldedForm(frame, {
    summary: summaryOf(frame, texts.rotateSummary, name),
    state,
    action: '/integration/keys/rotate',
    body: html`<p class="muted">${texts.rotateLead}</p>${formMessage(state, true)}
${hidden({ name, replaces: createdAt })}
${selectField({
  id: `rotate-${name}-grace`,
  name: 'graceSeconds',
  label: texts.oldEnds,
  choices: endChoices(frame),
  chosen: state.values.graceSeconds ?? '86400',
  error: state.errors.graceSeconds,
})}
${currentPasswordField(frame, state, `rotate-${name}-`)}<div>${button(texts.rotate, 'primary')}</div>`,
  })
}

export function renameForm(frame: PageFrame, { name }: SecretKeyStatus, state: FormState): Html {
  const { furtherKeys: texts, parts } = frame.texts
  return foldedForm(frame, {
    summary: summaryOf(frame, texts.renameSummary, name),
    state,
    action: '/integration/keys/rename',
    body: html`${formMessage(state, true)}${hidden({ name })}${field(state, {
      name: 'to',
      label: parts.newName,
      hint: texts.newNameHint,
      value: name,
      lengthMax: keyNameLengthMax,
      idPrefix: `rename-${name}-`,
      isExact: true,
      autocomplete: 'off',
    })}<div>${button(parts.rename, 'primary')}</div>`,
  })
}

/** @param basePath path of the form, below the portal */
export function revokeForm(frame: PageFrame, { name, createdAt }: SecretKeyStatus, basePath: string): Html {
  const texts = frame.texts.furtherKeys
  return foldedForm(frame, {
    summary: summaryOf(frame, texts.revokeSummary, name),
    isDanger: true,
    action: `${basePath}/revoke`,
    body: html`<p>${texts.revokeLead}</p>
${hidden({ name, createdAt })}${selectField({
  id: `revoke-${name}-${createdAt}`,
  name: 'graceSeconds',
  label: texts.when,
  choices: endChoices(frame),
  chosen: '0',
})}
<div>${button(texts.revoke, 'danger primary')}</div>`,
  })
}

/** Every key has the same forms: for people who cannot see the table, the name tells them apart. */
function summaryOf({ texts: { furtherKeys } }: PageFrame, text: string, name: string): Html {
  return html`${text}<span class="visually-hidden">${furtherKeys.ofKey(name)}</span>`
}

function endChoices({ texts: { furtherKeys } }: PageFrame): readonly Choice[] {
  return graceChoices.map((seconds) => ({ value: String(seconds), text: furtherKeys.endChoices[seconds] }))
}

const explainedMax = 20

function scopesHint({ scopedRoutes, texts: { furtherKeys } }: PageFrame): Html {
  const scopes = [...new Set(scopedRoutes.flatMap((route) => route.scopes))].toSorted().slice(0, explainedMax)
  const explained = scopes.map((scope) => {
    const routes = scopedRoutes.filter((route) => route.scopes.includes(scope)).map(({ text }) => text)
    return furtherKeys.scopeIsFor(scope, routes.join('; '))
  })
  return html`${furtherKeys.scopesHint}${explained}`
}

export function createForm(frame: PageFrame, state = emptyForm): Html {
  const { furtherKeys: texts, parts } = frame.texts
  return foldedForm(frame, {
    summary: texts.createSummary,
    state,
    action: '/integration/keys/create',
    body: newKeyFields(frame, state, { idPrefix: 'new-key-', noLifetime: parts.never, chosen: '90' }),
  })
}

export function certificateForm(frame: PageFrame, state = emptyForm): Html {
  const idPrefix = 'certificate-'
  const texts = frame.texts.furtherKeys
  return foldedForm(frame, {
    summary: texts.certificateSummary,
    state,
    action: '/integration/keys/certificate',
    body: newKeyFields(frame, state, {
      idPrefix,
      noLifetime: texts.withCertificate,
      chosen: '',
      first: textArea(state, {
        name: 'certificate',
        label: texts.certificate,
        hint: texts.certificateHint,
        lengthMax: certificatePemLengthMax,
        idPrefix,
      }),
    }),
  })
}

interface NewKeyFields {
  readonly idPrefix: string
  /** What it means if no lifetime is chosen. */
  readonly noLifetime: string
  readonly chosen: string
  /** Before the others. */
  readonly first?: Html
}

function newKeyFields(
  frame: PageFrame,
  state: FormState,
  { idPrefix, noLifetime, chosen, first }: NewKeyFields,
): Html {
  const { furtherKeys: texts, parts } = frame.texts
  const text = (name: string, label: string, hint: Content) =>
    field(state, { name, label, hint, idPrefix, isOptional: true, isExact: true, autocomplete: 'off' })
  const lifetimes = Object.entries(texts.lifetimes).map(([value, text]) => ({ value, text }))
  return html`${formMessage(state, true)}${first}${field(state, {
    name: 'name',
    label: parts.name,
    hint: texts.nameHint,
    lengthMax: keyNameLengthMax,
    idPrefix,
    isExact: true,
    autocomplete: 'off',
  })}${text('scopes', texts.scopes, scopesHint(frame))}${text('addresses', texts.addresses, texts.addressesHint)}${text('quota', texts.quota, texts.quotaHint[frame.quotaUnit])}${selectField(
    {
      id: `${idPrefix}lifetimeDays`,
      name: 'lifetimeDays',
      label: parts.expires,
      choices: [{ value: '', text: noLifetime }, ...lifetimes],
      chosen: state.values.lifetimeDays ?? chosen,
      error: state.errors.lifetimeDays ?? state.errors.expiresAt,
    },
  )}
${currentPasswordField(frame, state, idPrefix)}<div>${button(texts.create, 'primary')}</div>`
}

function selectField({
  id,
  name,
  label,
  choices,
  chosen,
  error,
}: {
  readonly id: string
  readonly name: string
  readonly label: string
  readonly choices: readonly Choice[]
  readonly chosen: string
  readonly error?: string | undefined
}): Html {
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}">${options(choices, chosen)}</select>${error !== undefined && fieldError(`${id}-error`, error)}</div>`
}
