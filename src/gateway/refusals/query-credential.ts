/** Names of parameters in which clients of other services send keys and tokens. */
const credential =
  /[?&](?:(?:x[-_])?api[-_]?key|key|secret[-_]?key|access[-_]?token|auth[-_]?token|token|jwt|bearer|authorization)=/i
/**
 * A key of the gateway, or a JWT, whatever the parameter is called. Its name has no `?`, as each of many would be read 64
 * characters far: of a name that has one, what follows the last is looked at.
 */
const credentialValue = /[?&][^=&?]{0,64}=(?:eyJ|[a-z][a-z0-9]{0,15}_[sa]k_|g[sa]k_)/
/** Of URLs that were signed for a store: S3 and its kin, Google, Azure, CloudFront. */
const signature = /[?&](?:x-[a-z]{2,5}-signature|signature|sig|awsaccesskeyid)=/i

const advice = {
  credential:
    'A credential in the query is not accepted, as URLs are logged, kept in histories and told to other sites.',
  signature:
    'The URL is signed for the service behind this path, which tells nobody here who is calling: a caller has to authenticate too.',
} as const

/**
 * Why what the query holds is no credential, where it looks like one; undefined where it does not.
 * @param target of the request, as it came
 */
export function queryAdvice(target: string): string | undefined {
  const mark = target.indexOf('?')
  if (mark === -1) return undefined
  const query = target.slice(mark)
  if (signature.test(query)) return advice.signature
  return credential.test(query) || credentialValue.test(query) ? advice.credential : undefined
}
