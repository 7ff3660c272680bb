/** What several pages share. */
export const parts = {
  /** For screen readers. @param what the heading of the code, or the name of the key */
  copy: (what: string) => `Copy: ${what}`,
  save: 'Save',
  saveAs: (what: string) => `Save: ${what}`,
  /** The navigation through a list. */
  pages: 'Pages',
}
