import { hideSecrets, secretStartPattern } from '../../secrets/hide-secrets.ts'
import type { Arrival } from '../arrival.ts'
import { clientClosedRequest } from '../outcome.ts'
import { frequentMember, jsonMember } from './members.ts'

/** Matches paths that may need redaction for the log: most do not. */
const mayNeedRedaction = new RegExp(`[?#%]|${secretStartPattern.source}`)

/** Writes the members that say what was requested, and what came of it. */
export function createRequestMembers(): (arrival: Arrival) => string {
  const clientMember = frequentMember('client')
  const methodMember = frequentMember('method')
  const versionMember = frequentMember('httpVersion')
  const routeMember = frequentMember('route')

  return ({ head, client, outcome, connection }) => {
    const { destination, route, status = clientClosedRequest } = outcome
    return (
      clientMember(client.address) +
      methodMember(head.method) +
      jsonMember('path', pathForLog(destination?.target.sentPath ?? head.target)) +
      versionMember(connection.httpVersion) +
      routeMember(route) +
      '"status":' +
      status +
      ','
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
