import { type blockedSubjectData, subjectLengthMax } from '#identity/issuers/subjects.ts'
import { time } from '#platform/pages/format.ts'
import { emptyState, type Html, html, icon } from '#platform/pages/html.ts'
import { belowAccounts } from './accounts/account-forms.ts'
import { button, field, form, formMessage, hidden } from './form.ts'
import type { FormState, PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, pager, titleRow } from './parts.ts'

export interface SubjectsView {
  readonly items: readonly Blocked[]
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
  /** State of the form that blocks one. */
  readonly state: FormState
}

type Blocked = Omit<ReturnType<typeof blockedSubjectData>, 'id'>

/** Blocked users of foreign issuers, and the form to block one. */
export function subjectsPage(frame: PageFrame, view: SubjectsView): Html {
  const { items, state } = view
  const texts = frame.texts.subjects
  return page(frame, {
    title: texts.title,
    ...belowAccounts(frame),
    lead: texts.lead,
    body: html`<section class="card" aria-label="${texts.block}"><div class="body">${blockForm(frame, state)}</div></section>
<section class="card" aria-label="${texts.title}">${items.length === 0 ? nobody(frame) : table(frame, items)}</section>
${pager(frame, {
  ...view,
  texts: [frame.texts.accounts.firstPage, frame.texts.accounts.nextPage],
  hrefOf: (cursor) =>
    `${frame.base}/subjects${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`,
})}`,
  })
}

function blockForm(frame: PageFrame, state: FormState): Html {
  const { issuers } = frame
  const texts = frame.texts.subjects
  return form(frame, {
    action: '/subjects/block',
    body: html`${formMessage(state, true)}${field(state, {
      name: 'issuer',
      label: texts.issuer,
      hint: issuers.length > 0 ? texts.issuerHint(issuers.join(', ')) : texts.noIssuerHint,
      ...(issuers.length === 1 && issuers[0] !== undefined && { value: issuers[0] }),
      choices: issuers,
      autocomplete: 'off',
      isExact: true,
    })}${field(state, {
      name: 'subject',
      label: texts.subject,
      hint: texts.subjectHint,
      lengthMax: subjectLengthMax,
      autocomplete: 'off',
      isExact: true,
    })}<p class="hint">${texts.consequence}</p><div>${button(texts.submit, 'danger primary')}</div>`,
  })
}

function table(frame: PageFrame, items: readonly Blocked[]): Html {
  const texts = frame.texts.subjects
  const action = html`<span class="visually-hidden">${texts.action}</span>`
  return html`<table>${titleRow([texts.user, texts.issuer, texts.blocked, action])}
<tbody>${items.map((item) => row(frame, item))}</tbody></table>`
}

function row(frame: PageFrame, { issuer, subject, blockedAt }: Blocked): Html {
  const texts = frame.texts.subjects
  const unblock = form(frame, {
    action: '/subjects/unblock',
    class: 'inline',
    body: html`${hidden({ issuer, subject })}<button class="small">${texts.unblock(subject, issuer)}</button>`,
  })
  return html`<tr><td><div><span class="name">${subject}</span></div></td>${cell(texts.issuer, issuer)}${cell(texts.blocked, time(Date.parse(blockedAt), frame))}<td class="acts">${unblock}</td></tr>`
}

function nobody({ texts }: PageFrame): Html {
  return emptyState({ icon: icon('accounts'), ...texts.subjects.nobody })
}
