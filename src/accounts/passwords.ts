/** Fewest characters, and most bytes in UTF-8, of a password. */
export const passwordLength = { charactersMin: 12, bytesMax: 1_024 } as const
