import type { Texts } from '../en/en.ts'

export const layout: Texts['layout'] = {
  skipToContent: 'Zum Inhalt',
  navigation: 'Portal',
  administration: 'Verwaltung',
  sections: {
    '/integration': 'Anbindung',
    '/usage': 'Nutzung',
    '/sessions': 'Sitzungen',
    '/profile': 'Profil',
    '/accounts': 'Konten',
    '/audit': 'Protokoll',
  },
  signOut: 'Abmelden',
}
