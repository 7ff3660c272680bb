/**
 * A header name reduced to lower-case letters and digits. Servers that turn names into variables read `X_User_Id` and
 * `x.user.id` as X-User-Id: names that are equal here may be one field to a backend.
 */
export function foldHeaderName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
}
