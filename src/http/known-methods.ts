import { METHODS } from 'node:http'

/** Registered methods: other names are made up by clients, and never become a label. */
export const registeredMethods: ReadonlySet<string> = new Set(METHODS)
