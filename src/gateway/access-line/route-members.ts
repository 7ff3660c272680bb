import type { HttpVersion } from '#http/exchange/client-exchange.ts'
import { copyString } from '#platform/text.ts'
import { jsonMember } from './members.ts'

/** A method that clients invent may be as long as a head: no such text is kept. */
const methodLengthMax = 32

/** What the lines of a route have in common, up to the name of the duration: most are like the one before. */
export class RouteMembers {
  readonly #route: string
  #method = ''
  #httpVersion: HttpVersion = '1.1'
  #status = 0
  #text = ''

  constructor(route: string) {
    this.#route = route
  }

  of(method: string, httpVersion: HttpVersion, status: number): string {
    if (method === this.#method && httpVersion === this.#httpVersion && status === this.#status)
      return this.#text
    const versionMember = jsonMember('httpVersion', httpVersion)
    const start = jsonMember('method', method) + versionMember + jsonMember('route', this.#route)
    const members = `${start}"status":${status},"durationMs":`
    if (method.length > methodLengthMax) return members
    this.#method = copyString(method)
    this.#httpVersion = httpVersion
    this.#status = status
    // In one piece: a joined text would be joined anew for each line.
    this.#text = Buffer.from(members).toString()
    return this.#text
  }
}
