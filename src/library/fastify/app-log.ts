import type { FastifyBaseLogger } from 'fastify'
import { isRecord } from '#platform/json.ts'
import { createLog, type Log } from '#platform/log/log.ts'

const levels = ['debug', 'info', 'warn', 'error'] as const

/** A log whose lines go to the logger of the app, with its members; secrets and commands of drivers are left out before. */
export function createAppLog(appLog: FastifyBaseLogger): Log {
  return createLog({
    level: 'debug',
    stream: {
      write: (line) => {
        const parsed: unknown = JSON.parse(line)
        if (!isRecord(parsed)) return
        // The app's logger writes its own time.
        const { level, time: _, msg, ...members } = parsed
        const known = levels.find((name) => name === level) ?? 'info'
        appLog[known](members, String(msg ?? ''))
      },
    },
  })
}
