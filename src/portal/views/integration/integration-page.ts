import { attributeIf, badge, card, type Html, html } from '#platform/pages/html.ts'
import type { KeyKind } from '#platform/secrets/keys.ts'
import type { PageFrame } from '../frame.ts'
import { page } from '../layout.ts'
import { codeBlock, maskKey } from '../parts.ts'
import { type FurtherKeysView, furtherKeysCard } from './further-keys.ts'
import { type KeyCardsView, keyCard } from './key-card.ts'
import { createSnippets, type SnippetOptions } from './snippets.ts'
import { type TryItView, tryItCard } from './try-it-card.ts'

export interface IntegrationView extends KeyCardsView, FurtherKeysView {
  readonly snippets: SnippetOptions
  readonly tryIt: TryItView
}

/** The main page: the two keys and how to use them. */
export function integrationPage(frame: PageFrame, view: IntegrationView): Html {
  const { carriers } = view.snippets
  return page(frame, {
    title: frame.texts.layout.sections['/integration'],
    section: '/integration',
    lead: frame.texts.integration.lead,
    actions: html`<a class="button" href="${frame.base}/api">${frame.texts.api.title}</a>`,
    body: html`${keyCard(frame, view, 'secretKey')}${keyCard(frame, view, 'apiKey')}${furtherKeysCard(frame, view, carriers.certificate)}${snippetsCard(frame, view)}${tryItCard(frame, view.tryIt)}`,
  })
}

function snippetsCard(frame: PageFrame, { accountId, keys, snippets, shown }: IntegrationView): Html {
  const texts = frame.texts.integration
  const keyText = (kind: KeyKind) =>
    html`<span data-key-text="${kind}">${shown?.kind === kind ? shown.key : maskKey(kind, accountId, keys[kind].lastFour)}</span>`
  const secretKeyLine = html`export GATEHOUSE_SECRET_KEY='${keyText('secretKey')}'
`
  const environment = html`${keys.secretKey.exists && secretKeyLine}export GATEHOUSE_API_KEY='${keyText('apiKey')}'`
  const tabs = createSnippets(snippets).map(
    ({ language, withSecretKey, withToken }, index) =>
      html`<input type="radio" name="language" id="tab-${index}"${attributeIf(index === 0, 'checked')}><label for="tab-${index}">${language}</label>
<div class="tab">${codeBlock(frame, texts.withSecretKey(language), withSecretKey)}${codeBlock(frame, texts.withAccessToken(language), withToken)}</div>`,
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
