import type { SecretKeyStatus } from '#accounts/secret-keys.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { badge, card, emptyState, icon, notice, staticNotice } from '#platform/pages/parts.ts'
import { listText } from '#platform/text.ts'
import { dayMs } from '#platform/time.ts'
import { emptyForm, type FormState, type PageFrame, type ScopedRoute } from './frame.ts'
import {
  certificateForm,
  createForm,
  graceChoices,
  renameForm,
  revokeForm,
  rotateForm,
} from './further-key-forms.ts'
import { cell, copyButton, titleRow } from './parts.ts'

interface FurtherKeysView {
  readonly keys: readonly SecretKeyStatus[]
  /** The key that was just created. */
  readonly created: CreatedKey | undefined
  /** State of the form that creates a key. */
  readonly state: FormState
  /** Of the form that makes a certificate a key; undefined = none is accepted. */
  readonly certificate: FormState | undefined
  /** The form of a key that was refused. */
  readonly refused?: RefusedKeyForm | undefined
}

export interface CreatedKey {
  readonly name: string
  readonly key: string
  /** Set if it replaces another key: how long that one keeps working. */
  readonly graceSeconds?: number
}

export interface RefusedKeyForm {
  readonly form: 'rotate' | 'rename'
  readonly name: string
  readonly state: FormState
}

/** The secret keys other than the default one: each for one program, limited to what it needs. */
export function furtherKeysCard(frame: PageFrame, view: FurtherKeysView): Html {
  const { keys, created, state, certificate, refused } = view
  return card({
    title: 'Further keys',
    lead: 'A key for each program, limited to what it needs. Revoking one affects no other.',
    id: 'further-keys',
    isFlush: true,
    body: html`${created && createdPart(frame, created)}${expiryNotice(frame, keys)}${
      keys.length === 0
        ? emptyState({
            icon: icon('key'),
            title: 'No further keys',
            text: 'The secret key above is your only one.',
          })
        : keyTable(frame, keys, (key) => ownActs(frame, key, refused))
    }<footer>${createForm(frame, state)}${certificate && certificateForm(frame, certificate)}</footer>`,
  })
}

/** The further keys of an account, for Admins, who can revoke them; nothing if it has none. */
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
    body: keyTable(frame, keys, (key) => revokeForm(frame, key, `/accounts/${accountId}/keys`)),
  })
}

function createdPart(frame: PageFrame, { name, key, graceSeconds }: CreatedKey): Html {
  const choice = graceChoices.find(({ value }) => value === String(graceSeconds))?.text.toLowerCase()
  const made =
    graceSeconds === undefined
      ? `The key “${name}” is created.`
      : `The key “${name}” is rotated; the old one ends ${choice ?? `in ${graceSeconds} seconds`}.`
  return html`<div class="inset">${notice('good', `${made} Copy it now: it is not shown again.`, true)}<div class="secret"><code>${key}</code>${copyButton(frame, `the key ${name}`)}</div></div>`
}

/** How long before its end a key is marked. */
const warnMs = 7 * dayMs

function isEndNear({ state, revokedAt, expiresAt }: SecretKeyStatus, now: number): boolean {
  return state === 'valid' && revokedAt === undefined && expiresAt !== undefined && expiresAt - now <= warnMs
}

function expiryNotice(frame: PageFrame, keys: readonly SecretKeyStatus[]): Html | undefined {
  const ending = keys.filter((key) => isEndNear(key, frame.now))
  if (ending.length === 0) return undefined
  const lines = ending.map(
    ({ name, expiresAt = frame.now }) => html`<p>“${name}” expires ${time(expiresAt, frame)}.</p>`,
  )
  return html`<div class="inset">${staticNotice('warn', html`${lines}<p>Rotate a key to get a new one for as long again, while the old one still works.</p>`)}</div>`
}

const titles = ['Name', 'May use', 'Created', 'Last used', 'Expires']

/** @param acts what can be done to a key */
function keyTable(
  frame: PageFrame,
  keys: readonly SecretKeyStatus[],
  acts: (key: SecretKeyStatus) => Html,
): Html {
  return html`<table>${titleRow(titles)}${keys.map(
    (key) =>
      // Below the facts, as wide as the table, as the forms need the room.
      html`<tbody>${keyRow(frame, key)}<tr class="acts"><td colspan="${titles.length}"><div class="acts-list">${acts(key)}</div></td></tr></tbody>`,
  )}</table>`
}

/** A key that is about to end because another has replaced it can only be ended sooner. */
function ownActs(frame: PageFrame, key: SecretKeyStatus, refused: RefusedKeyForm | undefined): Html {
  const stateOf = (form: RefusedKeyForm['form']) =>
    refused?.form === form && refused.name === key.name ? refused.state : emptyForm
  return html`${
    key.revokedAt === undefined &&
    html`${rotateForm(frame, key, stateOf('rotate'))}${renameForm(frame, key, stateOf('rename'))}`
  }${revokeForm(frame, key, '/integration/keys')}`
}

function keyRow(frame: PageFrame, key: SecretKeyStatus): Html {
  const { name, createdAt, lastUse, isImported } = key
  const used = lastUse
    ? html`${time(lastUse.at, frame)} <code class="sub">${lastUse.address}</code>`
    : html`<span class="muted">Never</span>`
  return html`<tr>${[
    cell(
      'Name',
      html`<code>${name}</code> ${isImported && badge('plain', 'Made elsewhere')}${key.lastFour !== undefined && html`<code class="sub">…${key.lastFour}</code>`}`,
    ),
    cell('May use', accessOf(frame, key)),
    cell('Created', time(createdAt, frame)),
    cell('Last used', used),
    cell('Expires', endOf(key, frame)),
  ]}</tr>`
}

/** How many routes are named. */
const namedRoutesMax = 5

function accessOf({ scopedRoutes }: PageFrame, { scopes, addresses, quota }: SecretKeyStatus): Html {
  const what = scopes.length === 0 ? 'All that the account may' : openedBy(scopedRoutes, scopes)
  const from = addresses.length > 0 && html`<span class="sub">only from ${listText(addresses)}</span>`
  const often =
    quota && html`<span class="sub">${quota.limit.toLocaleString('en-GB')} requests a ${quota.per}</span>`
  return html`${what}${from}${often}`
}

/** The routes that a key with scopes may call, as far as its account may. */
function openedBy(routes: readonly ScopedRoute[], scopes: readonly string[]): Html {
  const opened = routes.filter((route) => route.scopes.every((scope) => scopes.includes(scope)))
  const named = opened.slice(0, namedRoutesMax).map(({ text }) => html`<code class="route">${text}</code>`)
  const more = opened.length - named.length
  const which =
    opened.length === 0
      ? 'Nothing: no route asks for these scopes only'
      : html`Only ${named}${more > 0 && html` and ${more} more`}`
  return html`${which}<span class="sub">${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}</span>`
}

function endOf(key: SecretKeyStatus, frame: PageFrame): Html {
  const { state, expiresAt, revokedAt } = key
  if (state === 'expired') return html`${badge('bad', 'Expired')} ${time(expiresAt ?? frame.now, frame)}`
  if (revokedAt !== undefined) return html`${badge('warn', 'Ends')} ${time(revokedAt, frame)}`
  if (expiresAt === undefined) return html`<span class="muted">Never</span>`
  return html`${isEndNear(key, frame.now) && html`${badge('warn', 'Expires soon')} `}${time(expiresAt, frame)}`
}
