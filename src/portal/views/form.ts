import { emailLengthMax, nameLengthMax } from '#accounts/account-input.ts'
import { attributeIf, type Content, type Html, html, icon, notice } from '#platform/pages/html.ts'
import type { Account } from '#store/accounts.ts'
import { emptyForm, type FormState, type PageFrame } from './frame.ts'

interface FormOptions {
  /** Path below the portal, such as `/sign-out`. */
  readonly action: string
  readonly class?: string
  readonly body: Content
  /** For the script: the attribute `data-…` and its value. */
  readonly data?: readonly [name: string, value: string]
  readonly isUpload?: boolean
}

/** Name of the hidden field that every form carries. */
export const csrfField = 'csrf'

/** A POST form with its CSRF token. */
export function form(
  frame: PageFrame,
  { action, body, data, isUpload = false, ...options }: FormOptions,
): Html {
  return html`<form method="post" action="${frame.base}${action}"${
    options.class !== undefined && html` class="${options.class}"`
  }${isUpload && html` enctype="multipart/form-data"`}${data !== undefined && html` data-${data[0]}="${data[1]}"`}><input type="hidden" name="${csrfField}" value="${frame.csrfToken}">${body}</form>`
}

/** Fields that people do not see. */
export function hidden(fields: Readonly<Record<string, string | number>>): Html {
  return html`${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`
}

export interface FieldOptions {
  readonly name: string
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'search'
  readonly hint?: Content
  readonly autocomplete?: string
  readonly value?: string
  readonly isOptional?: boolean
  readonly lengthMax?: number
  readonly lengthMin?: number
  readonly hasFocus?: boolean
  /** Makes element IDs unique if two forms of a page have a field with this name. */
  readonly idPrefix?: string
  /** For an exact text, such as an ID: no autocorrection. */
  readonly isExact?: boolean
  /** Values to choose from; any other can be typed. */
  readonly choices?: readonly string[]
}

/** A labelled field with its hint and its error; it keeps what was typed. */
export function field(state: FormState, options: FieldOptions): Html {
  const { name, label, type = 'text', hint, idPrefix = '' } = options
  const id = `${idPrefix}${name}`
  const value = type === 'password' ? undefined : (state.values[name] ?? options.value)
  const error = state.errors[name]
  // A field with an error gets the focus; if several have the attribute, browsers take the first.
  const hasFocus = error !== undefined || (options.hasFocus === true && !hasErrors(state))
  const describedBy = [
    hint !== undefined ? `${id}-hint` : '',
    error !== undefined ? `${id}-error` : '',
  ].filter(Boolean)
  return html`<div class="field"><label for="${id}">${label}</label>
${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
<input id="${id}" name="${name}" type="${type}"${value !== undefined && html` value="${value}"`}${
    options.autocomplete !== undefined && html` autocomplete="${options.autocomplete}"`
  }${options.lengthMax !== undefined && html` maxlength="${options.lengthMax}"`}${
    options.lengthMin !== undefined && html` minlength="${options.lengthMin}"`
  }${attributeIf(options.isOptional !== true, 'required')}${attributeIf(hasFocus, 'autofocus')}${attributeIf(
    options.isExact === true,
    'autocapitalize="none" spellcheck="false"',
  )}${options.choices !== undefined && html` list="${id}-choices"`}${describedBy.length > 0 && html` aria-describedby="${describedBy.join(' ')}"`}${attributeIf(
    error !== undefined,
    'aria-invalid="true"',
  )}>${options.choices !== undefined && html`<datalist id="${id}-choices">${options.choices.map((choice) => html`<option value="${choice}"></option>`)}</datalist>`}
${error !== undefined && fieldError(`${id}-error`, error)}</div>`
}

export function emailField(
  state: FormState,
  options: Omit<FieldOptions, 'name' | 'type' | 'lengthMax'>,
): Html {
  return field(state, { ...options, name: 'email', type: 'email', lengthMax: emailLengthMax })
}

/** First and last name, side by side if there is room. */
export function nameFields(
  { texts: { profile } }: PageFrame,
  state: FormState,
  names: Pick<Account, 'firstName' | 'lastName'>,
): Html {
  return html`<div class="fields two">${field(state, {
    name: 'firstName',
    label: profile.firstName,
    autocomplete: 'given-name',
    isOptional: true,
    lengthMax: nameLengthMax,
    value: names.firstName,
  })}${field(state, {
    name: 'lastName',
    label: profile.lastName,
    autocomplete: 'family-name',
    isOptional: true,
    lengthMax: nameLengthMax,
    value: names.lastName,
  })}</div>`
}

/** A field for an exact text of several lines: no autocorrection. */
export function textArea(
  state: FormState,
  {
    name,
    label,
    hint,
    lengthMax,
    idPrefix,
  }: Required<Pick<FieldOptions, 'name' | 'label' | 'hint' | 'lengthMax' | 'idPrefix'>>,
): Html {
  const id = `${idPrefix}${name}`
  const error = state.errors[name]
  return html`<div class="field"><label for="${id}">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
<textarea id="${id}" name="${name}" rows="6" maxlength="${lengthMax}" required autocapitalize="none" spellcheck="false" autocomplete="off" aria-describedby="${id}-hint${error !== undefined && html` ${id}-error`}"${attributeIf(error !== undefined, 'autofocus aria-invalid="true"')}>
${state.values[name] ?? ''}</textarea>
${error !== undefined && fieldError(`${id}-error`, error)}</div>`
}

export interface Choice {
  readonly value: string
  readonly text: string
}

/** What a `select` offers. */
export function options(choices: readonly Choice[], chosen: string | undefined): Html {
  return html`${choices.map(
    ({ value, text }) =>
      html`<option value="${value}"${attributeIf(value === chosen, 'selected')}>${text}</option>`,
  )}`
}

/** A form that stays folded until it is opened, unless it was refused. */
export function foldedForm(
  frame: PageFrame,
  {
    summary,
    isDanger = false,
    state = emptyForm,
    ...options
  }: FormOptions & { readonly summary: Content; readonly isDanger?: boolean; readonly state?: FormState },
): Html {
  return html`<details class="act"${attributeIf(hasErrors(state), 'open')}><summary${isDanger && html` class="danger"`}>${summary}</summary>${form(frame, options)}</details>`
}

export function fieldError(id: string, text: string): Html {
  return html`<p class="wrong" id="${id}">${icon('bad')}<span>${text}</span></p>`
}

/** The error of a whole form. @param hasFocus for a page with many forms, where it might be off screen */
export function formMessage({ message }: FormState, hasFocus = false): Html | undefined {
  return message === undefined ? undefined : notice('bad', message, hasFocus)
}

export function hasErrors({ errors, message }: FormState): boolean {
  return message !== undefined || Object.keys(errors).length > 0
}

export function button(text: string, look: string = ''): Html {
  return html`<button${look !== '' && html` class="${look}"`}>${text}</button>`
}

export function factRow(text: string, hint: Content): Html {
  return row(text, hint, undefined)
}

interface ActionRow {
  readonly path: string
  readonly text: string
  readonly hint: string
  readonly button: string
  /** A field that the action requires. */
  readonly asked?: Html | undefined
}

/** A fact about an account, with the button that changes it. */
export function actionRow(frame: PageFrame, { path, text, hint, button: label, asked }: ActionRow): Html {
  return row(text, hint, form(frame, { action: path, class: 'inline', body: html`${asked}${button(label)}` }))
}

function row(text: string, hint: Content, action: Html | undefined): Html {
  return html`<div class="act-row"><div><p>${text}</p><p class="hint">${hint}</p></div>${action}</div>`
}
