import { keyNameLengthMax } from '../../accounts/key-input.ts'
import type { SecretKeyStatus } from '../../accounts/secret-keys.ts'
import { card } from '../../pages/card.ts'
import { attributeIf, type Html, html } from '../../pages/html.ts'
import { icon } from '../../pages/icons.ts'
import { badge, emptyState, notice } from '../../pages/notice.ts'
import { time } from '../../pages/time.ts'
import { cell } from './cell.ts'
import { copyButton } from './code-block.ts'
import { currentPasswordField, field, fieldError, form, formMessage, hasErrors } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'

export interface FurtherKeysView {
  readonly keys: readonly SecretKeyStatus[]
  /** The key that was just created. */
  readonly created: CreatedKey | undefined
  /** Of the form that creates a key. */
  readonly state: FormState
}

export interface CreatedKey {
  readonly name: string
  readonly key: string
}

/** The secret keys beside the default one: each for one program, limited to what that needs. */
export function furtherKeysCard(frame: PageFrame, { keys, created, state }: FurtherKeysView): Html {
  return card({
    title: 'Further keys',
    lead: 'A key for each program, limited to what it needs. Revoking one affects no other.',
    id: 'further-keys',
    isFlush: true,
    body: html`${created && createdPart(created)}${
      keys.length === 0
        ? emptyState({
            icon: icon('key'),
            title: 'No further keys',
            text: 'Your API secret above is your only secret key.',
          })
        : keyTable(frame, keys, '/integration/keys')
    }<footer>${createForm(frame, state)}</footer>`,
  })
}

/** The same of an account that an Admin looks at, who can revoke them; nothing where it has none. */
export function accountFurtherKeysCard(
  frame: PageFrame,
  keys: readonly SecretKeyStatus[],
  accountId: string,
): Html | undefined {
  if (keys.length === 0) return undefined
  return card({
    title: 'Further keys',
    lead: 'A key for each program. Revoking one affects no other.',
    id: 'further-keys',
    isFlush: true,
    body: keyTable(frame, keys, `/accounts/${accountId}/keys`),
  })
}

function createdPart({ name, key }: CreatedKey): Html {
  return html`<div class="field">${notice('good', `The key “${name}” is created. Copy it now: it is not shown again.`, true)}<div class="secret"><code>${key}</code>${copyButton(`the key ${name}`)}</div></div>`
}

const titles = ['Name', 'Limited to', 'Created', 'Last used', 'Expires']

/** @param basePath path of the forms, below the portal */
function keyTable(frame: PageFrame, keys: readonly SecretKeyStatus[], basePath: string): Html {
  return html`<table><thead><tr>${titles.map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>${keys.map(
    (key) => html`<tbody>${keyRow(frame, key)}${actsRow(frame, key, basePath)}</tbody>`,
  )}</table>`
}

/** Below the facts, as wide as the table: its forms need the room. */
function actsRow(frame: PageFrame, { name }: SecretKeyStatus, basePath: string): Html {
  return html`<tr class="acts"><td colspan="${titles.length}"><div class="acts-list">${revokeForm(frame, name, basePath)}</div></td></tr>`
}

function keyRow(frame: PageFrame, key: SecretKeyStatus): Html {
  const { name, createdAt, lastUse, isImported } = key
  const used = lastUse
    ? html`${time(lastUse.at, frame.now)} <code class="sub">${lastUse.address}</code>`
    : html`<span class="muted">Never</span>`
  return html`<tr>${[
    cell('Name', html`<code>${name}</code> ${isImported && badge('plain', 'Made elsewhere')}`),
    cell('Limited to', limitsOf(key)),
    cell('Created', time(createdAt, frame.now)),
    cell('Last used', used),
    cell('Expires', endOf(key, frame.now)),
  ]}</tr>`
}

function limitsOf({ scopes, addresses }: SecretKeyStatus): Html {
  if (scopes.length + addresses.length === 0) return html`<span class="muted">Not limited</span>`
  const from = addresses.length > 0 && html`<code class="sub">${addresses.join(', ')}</code>`
  return html`${scopes.join(', ')}${from}`
}

function endOf({ state, expiresAt, revokedAt }: SecretKeyStatus, now: number): Html {
  if (state === 'expired') return badge('bad', 'Expired')
  if (revokedAt !== undefined) return html`${badge('warn', 'Revoked')} ${time(revokedAt, now)}`
  return expiresAt === undefined ? html`<span class="muted">Never</span>` : time(expiresAt, now)
}

const graceChoices = [
  { value: '0', text: 'Now' },
  { value: '3600', text: 'In 1 hour' },
  { value: '86400', text: 'In 24 hours' },
  { value: '604800', text: 'In 7 days' },
] as const

function revokeForm(frame: PageFrame, name: string, basePath: string): Html {
  const id = `revoke-${name}`
  return html`<details class="act"><summary class="danger">Revoke…<span class="visually-hidden"> key ${name}</span></summary>${form(
    frame,
    {
      action: `${basePath}/revoke`,
      body: html`<p>Programs that use this key, and its access tokens, are refused from then on.</p>
<input type="hidden" name="name" value="${name}"><div class="field"><label for="${id}">When</label>${select(id, 'graceSeconds', graceChoices, '0')}</div>
<div><button class="danger primary">Revoke</button></div>`,
    },
  )}</details>`
}

const lifetimeChoices = [
  { value: '', text: 'Never' },
  { value: '30', text: 'In 30 days' },
  { value: '90', text: 'In 90 days' },
  { value: '365', text: 'In a year' },
] as const

function createForm(frame: PageFrame, state: FormState): Html {
  const idPrefix = 'new-key-'
  const text = (name: string, label: string, hint: string) =>
    field(state, { name, label, hint, idPrefix, isOptional: true, isExact: true, autocomplete: 'off' })
  const error = state.errors.lifetimeDays ?? state.errors.expiresAt
  return html`<details class="act"${attributeIf(hasErrors(state), 'open')}><summary>Create a key…</summary>${form(
    frame,
    {
      action: '/integration/keys/create',
      body: html`${formMessage(state, true)}${field(state, {
        name: 'name',
        label: 'Name',
        hint: 'Letters, digits, . _ and -, such as ci or backup.',
        lengthMax: keyNameLengthMax,
        idPrefix,
        isExact: true,
        autocomplete: 'off',
      })}${text('scopes', 'Scopes', 'What it may do, separated by spaces; empty = all that you may.')}${text(
        'addresses',
        'Addresses',
        'Where it may come from, such as 203.0.113.7 or 10.0.0.0/8; empty = anywhere.',
      )}<div class="field"><label for="${idPrefix}lifetimeDays">Expires</label>${select(
        `${idPrefix}lifetimeDays`,
        'lifetimeDays',
        lifetimeChoices,
        state.values.lifetimeDays ?? '90',
      )}${error !== undefined && fieldError(`${idPrefix}lifetimeDays-error`, error)}</div>
${currentPasswordField(frame, state, idPrefix)}<div><button class="primary">Create</button></div>`,
    },
  )}</details>`
}

function select(
  id: string,
  name: string,
  choices: readonly { readonly value: string; readonly text: string }[],
  chosen: string,
): Html {
  return html`<select id="${id}" name="${name}">${choices.map(
    ({ value, text }) =>
      html`<option value="${value}"${attributeIf(value === chosen, 'selected')}>${text}</option>`,
  )}</select>`
}
