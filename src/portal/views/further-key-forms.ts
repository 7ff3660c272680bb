import { certificatePemLengthMax } from '#accounts/certificate-input.ts'
import { keyNameLengthMax } from '#accounts/key-input.ts'
import type { SecretKeyStatus } from '#accounts/secret-keys.ts'
import { attributeIf, type Content, type Html, html } from '#platform/pages/html.ts'
import { currentPasswordField, field, fieldError, foldedForm, formMessage, textArea } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { graces } from './key-card.ts'

/** When a key ends. */
export const graceChoices = [
  { value: '0', text: 'Now' },
  ...graces.map(({ seconds, text }) => ({ value: String(seconds), text: `In ${text}` })),
]

export function rotateForm(frame: PageFrame, { name, createdAt }: SecretKeyStatus, state: FormState): Html {
  return foldedForm(frame, {
    summary: html`Rotate…<span class="visually-hidden"> key ${name}</span>`,
    state,
    action: '/integration/keys/rotate',
    body: html`<p class="muted">Creates a new key with the same name, limits and lifetime.</p>${formMessage(state, true)}
<input type="hidden" name="name" value="${name}"><input type="hidden" name="replaces" value="${createdAt}">
${selectField({
  id: `rotate-${name}-grace`,
  name: 'graceSeconds',
  label: 'The old key ends',
  choices: graceChoices,
  chosen: state.values.graceSeconds ?? '86400',
  error: state.errors.graceSeconds,
})}
${currentPasswordField(frame, state, `rotate-${name}-`)}<div><button class="primary">Rotate</button></div>`,
  })
}

export function renameForm(frame: PageFrame, { name }: SecretKeyStatus, state: FormState): Html {
  return foldedForm(frame, {
    summary: html`Rename…<span class="visually-hidden"> key ${name}</span>`,
    state,
    action: '/integration/keys/rename',
    body: html`${formMessage(state, true)}<input type="hidden" name="name" value="${name}">${field(state, {
      name: 'to',
      label: 'New name',
      hint: 'The key itself stays the same. What it has used so far stays under the old name.',
      value: name,
      lengthMax: keyNameLengthMax,
      idPrefix: `rename-${name}-`,
      isExact: true,
      autocomplete: 'off',
    })}<div><button class="primary">Rename</button></div>`,
  })
}

/** @param basePath path of the form, below the portal */
export function revokeForm(frame: PageFrame, { name, createdAt }: SecretKeyStatus, basePath: string): Html {
  return foldedForm(frame, {
    summary: html`Revoke…<span class="visually-hidden"> key ${name}</span>`,
    isDanger: true,
    action: `${basePath}/revoke`,
    body: html`<p>Programs that use this key, and its access tokens, are refused from then on.</p>
<input type="hidden" name="name" value="${name}"><input type="hidden" name="createdAt" value="${createdAt}">${selectField(
      {
        id: `revoke-${name}-${createdAt}`,
        name: 'graceSeconds',
        label: 'When',
        choices: graceChoices,
        chosen: '0',
      },
    )}
<div><button class="danger primary">Revoke</button></div>`,
  })
}

/** How many scopes are explained. */
const explainedMax = 20

/** What each scope opens. */
function scopesHint({ scopedRoutes }: PageFrame): Html {
  const scopes = [...new Set(scopedRoutes.flatMap((route) => route.scopes))].sort().slice(0, explainedMax)
  const explained = scopes.map((scope) => {
    const routes = scopedRoutes.filter((route) => route.scopes.includes(scope)).map(({ text }) => text)
    return html` <code>${scope}</code> is for ${routes.join('; ')}.`
  })
  return html`What it may do, separated by spaces; empty = all that you may.${explained}`
}

const lifetimeChoices = [
  { value: '', text: 'Never' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
] as const

export function createForm(frame: PageFrame, state: FormState): Html {
  return foldedForm(frame, {
    summary: 'Create a key…',
    state,
    action: '/integration/keys/create',
    body: newKeyFields(frame, state, { idPrefix: 'new-key-', lifetimes: lifetimeChoices, chosen: '90' }),
  })
}

export function certificateForm(frame: PageFrame, state: FormState): Html {
  const idPrefix = 'certificate-'
  const [never, ...others] = lifetimeChoices
  return foldedForm(frame, {
    summary: 'Use a certificate…',
    state,
    action: '/integration/keys/certificate',
    body: newKeyFields(frame, state, {
      idPrefix,
      lifetimes: [{ ...never, text: 'With the certificate' }, ...others],
      chosen: '',
      first: textArea(state, {
        name: 'certificate',
        label: 'Certificate',
        hint: 'As PEM, without the private key, or its SHA-256 in hexadecimal. The program that has the key sends no other credential.',
        lengthMax: certificatePemLengthMax,
        idPrefix,
      }),
    }),
  })
}

interface NewKeyFields {
  readonly idPrefix: string
  readonly lifetimes: readonly { readonly value: string; readonly text: string }[]
  readonly chosen: string
  /** Before the others. */
  readonly first?: Html
}

function newKeyFields(
  frame: PageFrame,
  state: FormState,
  { idPrefix, lifetimes, chosen, first }: NewKeyFields,
): Html {
  const text = (name: string, label: string, hint: Content) =>
    field(state, { name, label, hint, idPrefix, isOptional: true, isExact: true, autocomplete: 'off' })
  return html`${formMessage(state, true)}${first}${field(state, {
    name: 'name',
    label: 'Name',
    hint: 'Letters, digits, . _ and -, such as ci or backup.',
    lengthMax: keyNameLengthMax,
    idPrefix,
    isExact: true,
    autocomplete: 'off',
  })}${text('scopes', 'Scopes', scopesHint(frame))}${text(
    'addresses',
    'Addresses',
    'Where it may come from, such as 203.0.113.7 or 10.0.0.0/8; empty = anywhere.',
  )}${text('quota', 'Quota', 'Requests per day or month (UTC), such as 1000/day; empty = as many as you may send.')}${selectField(
    {
      id: `${idPrefix}lifetimeDays`,
      name: 'lifetimeDays',
      label: 'Expires',
      choices: lifetimes,
      chosen: state.values.lifetimeDays ?? chosen,
      error: state.errors.lifetimeDays ?? state.errors.expiresAt,
    },
  )}
${currentPasswordField(frame, state, idPrefix)}<div><button class="primary">Create</button></div>`
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
  readonly choices: readonly { readonly value: string; readonly text: string }[]
  readonly chosen: string
  readonly error?: string | undefined
}): Html {
  return html`<div class="field"><label for="${id}">${label}</label><select id="${id}" name="${name}">${choices.map(
    ({ value, text }) =>
      html`<option value="${value}"${attributeIf(value === chosen, 'selected')}>${text}</option>`,
  )}</select>${error !== undefined && fieldError(`${id}-error`, error)}</div>`
}
