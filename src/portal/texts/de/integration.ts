import type { Texts } from '../en/en.ts'

export const integration: Texts['integration'] = {
  title: 'Anbindung',
  lead: 'Ihre Schlüssel und wie Sie sie verwenden.',
  apiReference: 'API-Referenz',
  codeExamples: 'Codebeispiele',
  codeExamplesLead:
    'Setzen Sie Ihre Schlüssel als Umgebungsvariablen. Zeigen Sie oben beide Schlüssel an, um sie von hier zu kopieren.',
  environment: 'Umgebungsvariablen',
  language: 'Programmiersprache',
  withSecretKey: (language) => `${language} mit dem Geheimschlüssel`,
  withAccessToken: (language) => `${language} mit einem Access-Token`,
}
