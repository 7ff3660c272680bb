import type { AccountInput } from './account-input.ts'

/** First and last name; '' where there is neither. */
export function fullName({ firstName, lastName }: Pick<AccountInput, 'firstName' | 'lastName'>): string {
  return `${firstName} ${lastName}`.trim()
}
