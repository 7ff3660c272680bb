import { defaultRole, fullName, noPlan, roleLengthMax } from '#accounts/account-input.ts'
import { attributeIf, badge, type Content, type Html, html } from '#platform/pages/html.ts'
import type { Account } from '#store/accounts.ts'
import { actionRow, emailField, field, fieldError, form, formMessage, nameFields, options } from '../form.ts'
import { emptyForm, type FormState, type PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { verifiedBadge } from '../parts.ts'

export function newAccountPage(frame: PageFrame, state: FormState = emptyForm): Html {
  const { accounts } = frame.texts
  const texts = accounts.new
  const body = form(frame, {
    action: '/accounts/new',
    body: html`${formMessage(state)}${emailField(state, {
      label: accounts.email,
      autocomplete: 'off',
      hasFocus: true,
    })}${nameFields(frame, state, { firstName: '', lastName: '' })}${roleField(frame, state, defaultRole)}${planField(frame, state, undefined)}
${checkBox(state, 'isVerified', texts.isVerified)}
${mailLinkField(frame, state, texts.mailsLink)}
<div class="row"><button class="primary">${texts.submit}</button><a class="button" href="${frame.base}/accounts">${accounts.cancel}</a></div>`,
  })
  return page(frame, {
    title: texts.title,
    ...belowAccounts(frame),
    lead: frame.oidc?.acceptsPasswords === false ? texts.lead : texts.leadWithLink,
    body: html`<section class="card"><div class="body">${body}</div></section>`,
  })
}

/** Confirms the deletion of an account: its e-mail must be typed. */
export function deleteAccountPage(frame: PageFrame, account: Account, state: FormState = emptyForm): Html {
  const { id, email } = account
  const { accounts } = frame.texts
  const texts = accounts.delete
  return page(frame, {
    title: texts.title,
    section: '/accounts',
    breadcrumb: { href: `/accounts/${id}`, text: email },
    lead: texts.lead(email),
    body: html`<section class="card"><div class="body">${form(frame, {
      action: `/accounts/${id}/delete`,
      body: html`${formMessage(state)}${field(state, {
        name: 'confirmation',
        label: texts.confirmation,
        autocomplete: 'off',
        isExact: true,
        hasFocus: true,
      })}<div class="row"><button class="danger primary">${texts.submit}</button><a class="button" href="${frame.base}/accounts/${id}">${accounts.cancel}</a></div>`,
    })}</div></section>`,
  })
}

/** For Admins: a set-up link for the owner of an account, shown or mailed. */
export function setupLinkRows(frame: PageFrame, id: string): Html {
  const texts = frame.texts.links.forOwner
  return html`${actionRow(frame, {
    path: `/accounts/${id}/set-up-link`,
    text: texts.title,
    hint: texts.hint,
    button: texts.create,
  })}${
    frame.canMailLinks &&
    actionRow(frame, {
      path: `/accounts/${id}/mail-set-up-link`,
      text: texts.byMail,
      hint: texts.byMailHint,
      button: texts.mail,
    })
  }`
}

export function stateBadge(frame: PageFrame, { isDisabled, isVerified }: Account): Html {
  return isDisabled ? badge('bad', frame.texts.accounts.disabled) : verifiedBadge(frame, isVerified)
}

/** An account in a table. @param mark beside its e-mail */
export function accountCell({ base }: PageFrame, account: Account, mark?: Content): Html {
  const { id, email } = account
  const name = fullName(account)
  return html`<td><div><a class="name" href="${base}/accounts/${id}">${email}</a>${mark}${name !== '' && html`<span class="sub">${name}</span>`}</div></td>`
}

/** Puts a page below the list of accounts, to which its breadcrumb leads back. @param query of the list */
export function belowAccounts({ texts }: PageFrame, query = '') {
  const breadcrumb = { href: `/accounts${query}`, text: texts.layout.sections['/accounts'] }
  return { section: '/accounts', breadcrumb } as const
}

/** Shown if links can be mailed. */
export function mailLinkField({ canMailLinks }: PageFrame, state: FormState, text: string): Html | undefined {
  return canMailLinks ? checkBox(state, 'mailsLink', text) : undefined
}

function checkBox({ values }: FormState, name: string, text: string): Html {
  return html`<label class="check"><input type="checkbox" name="${name}" value="true"${values[name] === 'true' && html` checked`}>${text}</label>`
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
  const choices = [
    { value: noPlan, text: accounts.noPlan },
    ...plans.map((plan) => ({ value: plan, text: plan })),
    ...(isUnknown ? [{ value: current, text: accounts.unknownPlan(current) }] : []),
  ]
  const error = errors.plan
  return html`<div class="field"><label for="plan">${accounts.plan}</label>
<p class="hint" id="plan-hint">${accounts.planHint}</p>
<select id="plan" name="plan" aria-describedby="plan-hint${error !== undefined && ' plan-error'}"${attributeIf(error !== undefined, 'aria-invalid="true"')}>${options(choices, chosen)}</select>
${error !== undefined && fieldError('plan-error', error)}</div>`
}
