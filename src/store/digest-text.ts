/** The digest of a key as its uses are kept under, base64url. */
export function digestText({ digest }: { readonly digest: Uint8Array }): string {
  return Buffer.from(digest).toString('base64url')
}
