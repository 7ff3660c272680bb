import { noPlan, roleLengthMax } from '#accounts/account-input.ts'
import { attributeIf, type Html, html } from '#platform/pages/html.ts'
import { badge } from '#platform/pages/parts.ts'
import type { Account } from '#store/accounts.ts'
import { field, fieldError } from '../form.ts'
import type { FormState, PageFrame } from '../frame.ts'
import { verifiedBadge } from '../profile-page.ts'

export function stateBadge(frame: PageFrame, { isDisabled, isVerified }: Account): Html {
  return isDisabled ? badge('bad', frame.texts.accounts.disabled) : verifiedBadge(frame, isVerified)
}

/** Leads back to the list. @param query of the list */
export function backToAccounts({ texts }: PageFrame, query = '') {
  return { href: `/accounts${query}`, text: texts.layout.sections['/accounts'] }
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

export function roleField({ roles, texts: { accounts } }: PageFrame, state: FormState, value: string): Html {
  return field(state, {
    name: 'role',
    label: accounts.role,
    value,
    lengthMax: roleLengthMax,
    autocomplete: 'off',
    isExact: true,
    choices: roles,
    hint: accounts.roleHint(roles.join(', ')),
  })
}

/** Shown if there are plans to choose from, or the account has one. */
export function planField(
  { plans, texts: { accounts } }: PageFrame,
  { values, errors }: FormState,
  current: string | undefined,
): Html | undefined {
  if (plans.length === 0 && current === undefined) return undefined
  const isUnknown = current !== undefined && !plans.includes(current)
  const chosen = values.plan ?? current ?? noPlan
  const option = (value: string, text: string) =>
    html`<option value="${value}"${attributeIf(value === chosen, 'selected')}>${text}</option>`
  const error = errors.plan
  return html`<div class="field"><label for="plan">${accounts.plan}</label>
<p class="hint" id="plan-hint">${accounts.planHint}</p>
<select id="plan" name="plan" aria-describedby="plan-hint${error !== undefined && ' plan-error'}"${attributeIf(error !== undefined, 'aria-invalid="true"')}>${option(noPlan, accounts.noPlan)}${plans.map((plan) => option(plan, plan))}${isUnknown && option(current, accounts.unknownPlan(current))}</select>
${error !== undefined && fieldError('plan-error', error)}</div>`
}
