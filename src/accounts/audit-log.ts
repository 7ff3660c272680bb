import type { LoggedAuditEntry } from '../store/audit.ts'

export interface AuditLog {
  /** Newest first, from the one before a position. */
  list(page: {
    readonly before: string | undefined
    readonly limit: number
  }): Promise<readonly LoggedAuditEntry[]>
  /**
   * The whole log, newest first, in chunks of text: CSV (RFC 4180, with a heading; what a spreadsheet would
   * take for a formula is quoted) or JSON lines.
   */
  export(format: 'csv' | 'jsonl'): AsyncGenerator<string>
}
