import type { Texts } from '../en/en.ts'

export const parts: Texts['parts'] = {
  copy: (what) => `${what} kopieren`,
  save: 'Speichern',
  saveAs: (what) => `${what} speichern`,
  pages: 'Seiten',
}
