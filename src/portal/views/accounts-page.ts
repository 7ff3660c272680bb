import { defaultRole, emailLengthMax, noPlan, roleLengthMax } from '#accounts/account-input.ts'
import { attributeIf, type Html, html } from '#platform/pages/html.ts'
import { badge } from '#platform/pages/parts.ts'
import type { Account } from '#store/account.ts'
import { field, fieldError, form, formMessage } from './form.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { nameFields, verifiedBadge } from './profile-page.ts'

export function stateBadge(frame: PageFrame, { isDisabled, isVerified }: Account): Html {
  return isDisabled ? badge('bad', 'Disabled') : verifiedBadge(frame, isVerified)
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
    })}${nameFields(frame, state, { firstName: '', lastName: '' })}${roleField(frame, state, defaultRole)}${planField(frame, state, undefined)}
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
