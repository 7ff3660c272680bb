import type { Messages } from '../messages.ts'

export const messages: Messages = {}
