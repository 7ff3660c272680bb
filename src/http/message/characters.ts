/** @returns 1 at the code of each character of Latin-1 that matches */
function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
}

/** RFC 9110 5.6.2. */
export const tokenCharacters = tableOf(/[!#$%&'*+.^_`|~0-9A-Za-z-]/)
/** RFC 9110 5.5, including space and tab within a value; all characters beyond ASCII. */
export const valueCharacters = tableOf(/[\t\x20-\x7e\x80-\xff]/)

export function isToken(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (tokenCharacters[text.charCodeAt(index)] !== 1) return false
  }
  return text.length > 0
}

/** Space and tab, which surround values (RFC 9110 5.6.3). */
export function isSpace(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09
}

/** The maximum number of digits: enough for any body, and exact as a number. */
export const digitsMax = 15

/** A decimal number, exact up to `digitsMax` digits; undefined if the text is empty or contains anything but digits. */
export function parseDigits(text: string): number | undefined {
  let number = 0
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 0x30
    if (digit < 0 || digit > 9) return undefined
    number = number * 10 + digit
  }
  return text.length > 0 ? number : undefined
}
