/** The digest under which a key's uses are stored, base64url. */
export function digestText({ digest }: { readonly digest: Uint8Array }): string {
  return Buffer.from(digest).toString('base64url')
}
