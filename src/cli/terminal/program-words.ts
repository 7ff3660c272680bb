/** How the program is run: in a checkout, whose sources run directly, or from a package. */
export const programWords = import.meta.url.endsWith('.ts') ? 'npm run -s gatehouse --' : 'gatehouse'
