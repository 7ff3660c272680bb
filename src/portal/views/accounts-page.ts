import { defaultRole, emailLengthMax, fullName, noPlan, roleLengthMax } from '#accounts/account-input.ts'
import { queryLengthMax } from '#accounts/account-search.ts'
import { time } from '#platform/pages/format.ts'
import { attributeIf, type Html, html } from '#platform/pages/html.ts'
import { badge, emptyState, icon, staticNotice } from '#platform/pages/parts.ts'
import type { Account } from '#store/account.ts'
import { field, fieldError, form, formMessage } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { pager, titleRow } from './parts.ts'
import { nameFields, verifiedBadge } from './profile-page.ts'

interface AccountsView {
  readonly query: string
  readonly items: readonly Account[]
  readonly nextCursor: string | undefined
  readonly isFirstPage: boolean
  /** The error in the query. */
  readonly error?: string | undefined
}

/** All accounts, with a search and pages. */
export function accountsPage(frame: PageFrame, view: AccountsView): Html {
  const { base, issuers } = frame
  const { query, items, error } = view
  const search = query === '' ? '' : `q=${encodeURIComponent(query)}&`
  return page(frame, {
    title: 'Accounts',
    section: '/accounts',
    lead: 'Accounts, their roles and their state.',
    actions: html`${issuers.length > 0 && html`<a class="button" href="${base}/subjects">Blocked users</a>`}<a class="button" href="${base}/accounts/import">${icon('upload')}Import</a><a class="button primary" href="${base}/accounts/new">${icon('plus')}New account</a>`,
    body: html`<form class="search" method="get" action="${base}/accounts" role="search">
<div class="grow"><label class="visually-hidden" for="q">Search accounts</label><input id="q" name="q" type="search" value="${query}" placeholder="E-mail, name or ID" maxlength="${queryLengthMax}" autocomplete="off"></div>
<button>${icon('search')}Search</button></form>
${error !== undefined && staticNotice('bad', error)}
<section class="card" aria-label="Accounts">${items.length === 0 ? noAccounts(frame, view) : table(frame, items)}</section>
${pager({
  ...view,
  texts: ['First page', 'Next page'],
  hrefOf: (cursor) =>
    `${base}/accounts?${search}${cursor === undefined ? '' : `cursor=${encodeURIComponent(cursor)}`}`,
})}`,
  })
}

function table(frame: PageFrame, items: readonly Account[]): Html {
  return html`<table>${titleRow(['Account', 'Role', 'State', 'Created'])}
<tbody>${items.map((account) => row(frame, account))}</tbody></table>`
}

function row({ base, now }: PageFrame, account: Account): Html {
  const { id, email, role, createdAt } = account
  const name = fullName(account)
  return html`<tr><td><div><a class="name" href="${base}/accounts/${id}">${email}</a>${name !== '' && html`<span class="sub">${name}</span>`}</div></td>
<td data-label="Role"><div>${role}</div></td><td data-label="State"><div>${stateBadge(account)}</div></td><td data-label="Created"><div>${time(createdAt, now)}</div></td></tr>`
}

export function stateBadge({ isDisabled, isVerified }: Account): Html {
  return isDisabled ? badge('bad', 'Disabled') : verifiedBadge(isVerified)
}

function noAccounts({ base }: PageFrame, { query, nextCursor }: AccountsView): Html {
  if (query === '') {
    return emptyState({
      icon: icon('accounts'),
      title: 'No accounts yet',
      text: 'Create one, or import a file.',
    })
  }
  // If one word matches many accounts, a page checks only some of them for the other words.
  return nextCursor !== undefined
    ? emptyState({
        icon: icon('search'),
        title: 'No matches yet',
        text: 'Too many accounts begin with one of these words to check them all at once: the next page continues the search.',
      })
    : emptyState({
        icon: icon('search'),
        title: 'No matches',
        text: html`No e-mail, domain, name or ID begins with “${query}”. <a href="${base}/accounts">Show all accounts</a>`,
      })
}

const breadcrumb = { href: '/accounts', text: 'Accounts' }

/** The form for a new account. */
export function newAccountPage(frame: PageFrame, state: FormState = emptyForm): Html {
  const body = form(frame, {
    action: '/accounts/new',
    body: html`${formMessage(state)}${field(state, {
      name: 'email',
      label: 'E-mail',
      type: 'email',
      autocomplete: 'off',
      lengthMax: emailLengthMax,
      hasFocus: true,
    })}${nameFields(state, { firstName: '', lastName: '' })}${roleField(frame, state, defaultRole)}${planField(frame, state, undefined)}
<label class="check"><input type="checkbox" name="isVerified" value="true"${state.values.isVerified === 'true' && html` checked`}>Mark the e-mail as verified</label>
${mailLinkField(frame, state, 'Send the owner a set-up link by e-mail')}
<div class="row"><button class="primary">Create account</button><a class="button" href="${frame.base}/accounts">Cancel</a></div>`,
  })
  return page(frame, {
    title: 'New account',
    section: '/accounts',
    breadcrumb,
    lead:
      frame.oidc?.acceptsPasswords === false
        ? 'Keys are created with the account. The next page shows them.'
        : 'Keys are created with the account. The next page shows them and a set-up link for the owner.',
    body: html`<section class="card"><div class="body">${body}</div></section>`,
  })
}

/** Shown if links can be mailed. */
export function mailLinkField(
  { canMailLinks }: PageFrame,
  { values }: FormState,
  text: string,
): Html | undefined {
  if (!canMailLinks) return undefined
  return html`<label class="check"><input type="checkbox" name="mailsLink" value="true"${values.mailsLink === 'true' && html` checked`}>${text}</label>`
}

export function roleField({ roles }: PageFrame, state: FormState, value: string): Html {
  return field(state, {
    name: 'role',
    label: 'Role',
    value,
    lengthMax: roleLengthMax,
    autocomplete: 'off',
    isExact: true,
    choices: roles,
    hint: `Roles are case-sensitive. Known roles: ${roles.join(', ')}.`,
  })
}

/** Shown if there are plans to choose from, or the account has one. */
export function planField(
  { plans }: PageFrame,
  { values, errors }: FormState,
  current: string | undefined,
): Html | undefined {
  if (plans.length === 0 && current === undefined) return undefined
  const isUnknown = current !== undefined && !plans.includes(current)
  const chosen = values.plan ?? current ?? noPlan
  const option = (value: string, text: string) =>
    html`<option value="${value}"${attributeIf(value === chosen, 'selected')}>${text}</option>`
  const error = errors.plan
  return html`<div class="field"><label for="plan">Plan</label>
<p class="hint" id="plan-hint">How much the account may use.</p>
<select id="plan" name="plan" aria-describedby="plan-hint${error !== undefined && ' plan-error'}"${attributeIf(error !== undefined, 'aria-invalid="true"')}>${option(noPlan, 'None: not limited')}${plans.map((plan) => option(plan, plan))}${isUnknown && option(current, `${current} (not in the config: not limited)`)}</select>
${error !== undefined && fieldError('plan-error', error)}</div>`
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Confirms the deletion of an account: its e-mail must be typed. */
export function deleteAccountPage(frame: PageFrame, account: Account, state: FormState = emptyForm): Html {
  const { id, email } = account
  return page(frame, {
    title: 'Delete this account?',
    section: '/accounts',
    breadcrumb: { href: `/accounts/${id}`, text: email },
    lead: html`<strong>${email}</strong> loses its keys, tokens and sessions immediately. This cannot be undone.`,
    body: html`<section class="card"><div class="body">${form(frame, {
      action: `/accounts/${id}/delete`,
      body: html`${formMessage(state)}${field(state, {
        name: 'confirmation',
        label: 'Type the account e-mail to confirm',
        autocomplete: 'off',
        isExact: true,
        hasFocus: true,
      })}<div class="row"><button class="danger primary">Delete account</button><a class="button" href="${frame.base}/accounts/${id}">Cancel</a></div>`,
    })}</div></section>`,
  })
}
