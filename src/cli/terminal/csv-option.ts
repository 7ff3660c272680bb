/** For commands that print a list. */
export const csvOption = {
  csv: {
    type: 'boolean',
    help: 'Prints CSV (RFC 4180) with a header. A cell that a spreadsheet would run as a formula begins with an apostrophe.',
  },
} as const
