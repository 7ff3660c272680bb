import { METHODS } from 'node:http'

/** Methods that are registered: names of others are the client's own, and become no label. */
export const knownMethods: ReadonlySet<string> = new Set(METHODS)
