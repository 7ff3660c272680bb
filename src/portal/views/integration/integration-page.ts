import type { KeysStatus } from '#accounts/keys/default-keys.ts'
import type { SecretKeyStatus } from '#accounts/keys/secret-keys.ts'
import { attributeIf, badge, card, type Html, html } from '#platform/pages/html.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import { emptyForm, type FormState, type PageFrame, type RefusedForm, stateOf } from '../frame.ts'
import { page } from '../layout.ts'
import { codeBlock, maskKey } from '../parts.ts'
import { type CreatedKey, furtherKeysCard, type RefusedKeyForm } from './further-keys.ts'
import { keyCard, overlapPart, type ShownKey } from './key-card.ts'
import { createSnippets, type SnippetOptions } from './snippets.ts'
import { type TryItView, tryItCard } from './try-it-card.ts'

export interface IntegrationView {
  readonly accountId: string
  readonly keys: KeysStatus
  /** The secret keys other than the default one. */
  readonly furtherKeys: readonly SecretKeyStatus[]
  readonly snippets: SnippetOptions
  readonly tryIt: TryItView
  /** The key that this page reveals. */
  readonly shown?: (ShownKey & { readonly kind: KeyKind }) | undefined
  /** The further key that was just created. */
  readonly createdKey?: CreatedKey | undefined
  /** The form of a further key that was refused. */
  readonly refusedKeyForm?: RefusedKeyForm | undefined
  /** The form for a new further key, if it was refused. */
  readonly refusedKey?: FormState | undefined
  /** The form for a certificate, if it was refused. */
  readonly refusedCertificate?: FormState | undefined
  /** The form that was refused. */
  readonly refused?: (RefusedForm<'reveal' | 'reset'> & { readonly kind: KeyKind }) | undefined
}

/** The main page: the two keys and how to use them. */
export function integrationPage(frame: PageFrame, view: IntegrationView): Html {
  const texts = frame.texts.integration
  return page(frame, {
    title: texts.title,
    section: '/integration',
    lead: texts.lead,
    actions: html`<a class="button" href="${frame.base}/api">${texts.apiReference}</a>`,
    body: html`${keyCardOf(frame, view, 'secretKey')}${keyCardOf(frame, view, 'apiKey')}${furtherKeysOf(frame, view)}${snippetsCard(frame, view)}${tryItCard(frame, view.tryIt)}`,
  })
}

function furtherKeysOf(frame: PageFrame, view: IntegrationView): Html {
  return furtherKeysCard(frame, {
    keys: view.furtherKeys,
    created: view.createdKey,
    state: view.refusedKey ?? emptyForm,
    certificate: view.snippets.carriers.certificate ? (view.refusedCertificate ?? emptyForm) : undefined,
    refused: view.refusedKeyForm,
  })
}

function keyCardOf(
  frame: PageFrame,
  { accountId, keys, shown, refused, snippets }: IntegrationView,
  kind: KeyKind,
): Html {
  const { previousSecretKey: previous, secretKey } = keys
  const refusedHere = refused?.kind === kind ? refused : undefined
  return keyCard(frame, {
    kind,
    accountId,
    carriers: snippets.carriers,
    status: keys[kind],
    shown: shown?.kind === kind ? shown : undefined,
    reveal: stateOf(refusedHere, 'reveal'),
    reset: stateOf(refusedHere, 'reset'),
    overlap:
      kind === 'secretKey' && previous
        ? overlapPart(
            frame,
            { ...previous, since: secretKey.createdAt },
            { endPath: '/integration/secret-key/end-overlap', usagePath: '/integration/usage' },
          )
        : undefined,
  })
}

function snippetsCard(frame: PageFrame, { accountId, keys, snippets, shown }: IntegrationView): Html {
  const texts = frame.texts.integration
  const keyText = (kind: KeyKind) =>
    html`<span data-key-text="${kind}">${shown?.kind === kind ? shown.key : maskKey(kind, accountId, keys[kind].lastFour)}</span>`
  const environment = html`export GATEHOUSE_SECRET_KEY='${keyText('secretKey')}'
export GATEHOUSE_API_KEY='${keyText('apiKey')}'`
  const tabs = createSnippets(snippets).map(
    ({ language, withSecret, withToken }, index) =>
      html`<input type="radio" name="language" id="tab-${index}"${attributeIf(index === 0, 'checked')}><label for="tab-${index}">${language}</label>
<div class="tab">${codeBlock(frame, texts.withSecretKey(language), withSecret)}${codeBlock(frame, texts.withAccessToken(language), withToken)}</div>`,
  )
  return card({
    title: texts.codeExamples,
    lead: texts.codeExamplesLead,
    aside: badge('plain', snippets.baseUrl),
    id: 'code-examples',
    body: html`${codeBlock(frame, texts.environment, environment, { isMasked: true })}
<fieldset class="tabs"><legend class="visually-hidden">${texts.language}</legend>${tabs}</fieldset>`,
  })
}
