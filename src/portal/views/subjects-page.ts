import { subjectLengthMax } from '#identity/issuers/subjects.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html } from '#platform/pages/html.ts'
import { emptyState, icon } from '#platform/pages/parts.ts'
import { button, field, form, formMessage } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { pager } from './parts.ts'

export interface SubjectsView {
  readonly items: readonly BlockedItem[]
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
  /** State of the form that blocks one. */
  readonly state: FormState
}

/** The result of `blockedSubjectData`. */
interface BlockedItem {
  readonly issuer: string
  readonly subject: string
  readonly blockedAt: string
}

/** Blocked users of foreign issuers, and the form to block one. */
export function subjectsPage(frame: PageFrame, view: SubjectsView): Html {
  const { items, state } = view
  return page(frame, {
    title: 'Blocked users',
    section: '/accounts',
    breadcrumb: { href: '/accounts', text: 'Accounts' },
    lead: 'Users of other issuers whose tokens are refused on every route.',
    body: html`<section class="card" aria-label="Block a user"><div class="body">${blockForm(frame, state)}</div></section>
<section class="card" aria-label="Blocked users">${items.length === 0 ? nobody() : table(frame, items)}</section>
${pager(frame, {
  ...view,
  texts: ['First page', 'Next page'],
  hrefOf: (cursor) =>
    `${frame.base}/subjects${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
})}`,
  })
}

function blockForm(frame: PageFrame, state: FormState): Html {
  const { issuers } = frame
  return form(frame, {
    action: '/subjects/block',
    body: html`${formMessage(state, true)}${field(state, {
      name: 'issuer',
      label: 'Issuer',
      hint: `Its name in the config${issuers.length > 0 ? `: ${issuers.join(', ')}` : ''}.`,
      ...(issuers.length === 1 && issuers[0] !== undefined && { value: issuers[0] }),
      choices: issuers,
      autocomplete: 'off',
      isExact: true,
    })}${field(state, {
      name: 'subject',
      label: 'Subject',
      hint: 'The sub claim of their tokens. Logs and headers show it after the name of the issuer, percent-encoded.',
      lengthMax: subjectLengthMax,
      autocomplete: 'off',
      isExact: true,
    })}<p class="hint">All of the user’s tokens are refused, later ones too, and open WebSockets are closed.</p><div>${button('Block', 'danger primary')}</div>`,
  })
}

function table(frame: PageFrame, items: readonly BlockedItem[]): Html {
  return html`<table><thead><tr><th scope="col">User</th><th scope="col">Issuer</th><th scope="col">Blocked</th><th scope="col"><span class="visually-hidden">Action</span></th></tr></thead>
<tbody>${items.map((item) => row(frame, item))}</tbody></table>`
}

function row(frame: PageFrame, { issuer, subject, blockedAt }: BlockedItem): Html {
  const unblock = form(frame, {
    action: '/subjects/unblock',
    class: 'inline',
    body: html`<input type="hidden" name="issuer" value="${issuer}"><input type="hidden" name="subject" value="${subject}"><button class="small">Unblock<span class="visually-hidden"> ${subject} of ${issuer}</span></button>`,
  })
  return html`<tr><td><div><span class="name">${subject}</span></div></td><td data-label="Issuer"><div>${issuer}</div></td><td data-label="Blocked"><div>${time(Date.parse(blockedAt), frame)}</div></td><td class="acts">${unblock}</td></tr>`
}

function nobody(): Html {
  return emptyState({
    icon: icon('accounts'),
    title: 'Nobody is blocked',
    text: 'Users of other issuers have no account here. Block one to refuse their tokens before the issuer does.',
  })
}
