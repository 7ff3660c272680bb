import Negotiator from 'negotiator'
import type { Viewer } from '#identity/portal/portal-sessions.ts'
import { isLanguage, type Language } from '#platform/text.ts'
import type { PortalRequest } from './portal-request.ts'
import { languages } from './texts/texts.ts'

/** The language that the viewer has chosen; else that which the browser prefers (Accept-Language, RFC 9110 12.5.4). */
export function languageOf(
  { headers }: Pick<PortalRequest, 'headers'>,
  viewer: Viewer | undefined,
): Language {
  const chosen = viewer?.account.portal.language
  if (isLanguage(chosen)) return chosen
  const preferred = new Negotiator({ headers }).language(languages.map(({ tag }) => tag))
  return isLanguage(preferred) ? preferred : 'en'
}
