// Every text of the portal, by the pages that show it: each file exports the texts of its pages, and nothing else.

export * from './accounts.ts'
export * from './administration.ts'
export * from './integration.ts'
export * from './keys.ts'
export * from './layout.ts'
export * from './own-account.ts'
export * from './sign-in.ts'

/** Every language has what English has. */
export type Texts = typeof import('./en.ts')
