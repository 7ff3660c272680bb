import { copyString } from '../../platform/copy-string.ts'
import { hideSecrets, secretStartPattern } from '../../secrets/hide-secrets.ts'
import type { Arrival } from '../arrival.ts'
import { clientClosedRequest, type Destination } from '../outcome.ts'
import { frequentMember, jsonMember } from './members.ts'

/** Matches paths that may need redaction for the log: most do not. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)

/**
 * The members that say what was requested, and what came of it. Most requests have those of the request before: for
 * the third in a row and further ones they are one text, which takes a third of the time.
 */
export class RequestMembers {
  readonly #client = frequentMember('client')
  readonly #method = frequentMember('method')
  readonly #version = frequentMember('httpVersion')
  readonly #route = frequentMember('route')
  // What the last request had. Of its own texts nothing is kept: each may be a slice of its head.
  #lastDestination: Destination | undefined
  #lastClient = ''
  #lastVersion = ''
  #lastRoute = ''
  #lastStatus = 0
  /** The members of these; empty where only one request has had them. */
  #joined = ''

  of(arrival: Arrival): string {
    const { outcome, client, connection } = arrival
    const { destination, route, status = clientClosedRequest } = outcome
    const clientMember = this.#client(client.address)
    if (
      destination === this.#lastDestination &&
      destination !== undefined &&
      clientMember === this.#lastClient &&
      connection.httpVersion === this.#lastVersion &&
      route === this.#lastRoute &&
      status === this.#lastStatus
    ) {
      if (this.#joined === '') this.#joined = copyString(this.#join(arrival, clientMember, status))
      return this.#joined
    }
    // Others do not come again.
    this.#lastDestination = destination?.match && destination
    this.#lastClient = clientMember
    this.#lastVersion = connection.httpVersion
    this.#lastRoute = route
    this.#lastStatus = status
    this.#joined = ''
    return this.#join(arrival, clientMember, status)
  }

  #join({ head, outcome, connection }: Arrival, clientMember: string, status: number): string {
    return (
      clientMember +
      this.#method(head.method) +
      jsonMember('path', pathForLog(outcome.destination?.target.sentPath ?? head.target)) +
      this.#version(connection.httpVersion) +
      this.#route(outcome.route) +
      `"status":${status},`
    )
  }
}

/**
 * The path without query, fragment and userinfo, which may contain anything. A key or token that is in the path by
 * mistake is redacted.
 */
function pathForLog(target: string): string {
  if (target.startsWith('/') && !mayNeedRedaction.test(target)) return target
  const path = target.split(/[?#]/, 1)[0]?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') ?? ''
  return hideSecrets(path)
}
