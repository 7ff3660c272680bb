import type { Access, ProtectedAccess, SchemeName } from '#identity/access.ts'
import { basicCarrier, type Carriers, describeCarriers } from '#identity/carriers.ts'
import { type Credential, isCredential } from '#identity/credentials.ts'
import type { Refusal } from '#identity/decision.ts'
import { countFailure } from '#identity/limits/failures.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import { formOf, type SecretForm } from '#platform/secrets/key-format.ts'
import { listText } from '#platform/text.ts'
import type { Rate } from '#store/rates.ts'
import { credentialsOf, type GatedArrival } from '../arrival/arrival.ts'
import { accessTokenPath, refreshTokenPath } from '../routes/own-operations.ts'

/**
 * The only code that counts as a failed attempt by itself: a wrong or reset key. Tokens cannot be guessed, so one
 * counts only if its issuer was asked and did not know it (`isCounted`).
 */
export const countedCode: ErrorCode = 'secret-key-invalid'

/**
 * The error for a refused credential: the code of the refusal, or `too-many-failures`. Synchronous if only this process
 * counts failures.
 */
type CredentialRefusal = (
  refusal: Refusal,
  access: Access,
  arrival: GatedArrival,
) => GatehouseError | Promise<GatehouseError>

/** @param failures how many invalid credentials one client address may send */
export function createCredentialRefusal(limiter: RateLimiter, failures: Rate): CredentialRefusal {
  return function refusalError(refusal, access, arrival) {
    const { code, isMalformed, isCounted } = refusal
    const error = sharedError(code, refusalDetail(refusal, access, arrival))
    if (code !== countedCode && isCounted !== true) return error
    const excess = countFailure(limiter, failures, { address: arrival.client.address, isMalformed })
    return excess instanceof Promise ? orError(excess, error) : (excess ?? error)
  }
}

async function orError(
  excess: Promise<GatehouseError | undefined>,
  error: GatehouseError,
): Promise<GatehouseError> {
  return (await excess) ?? error
}

/** What a route accepts: keys, tokens, or both. */
type Taken = SchemeName | 'both'

/** The texts for one config, built once: a refusal must cost less than forwarding. */
interface Texts {
  /** What to send. */
  readonly ways: Readonly<Record<Taken, string>>
  readonly unknownScheme: Readonly<Record<Taken, string>>
  readonly notTaken: Readonly<Record<SchemeName, string>>
  /** What was sent, and where it belongs. */
  readonly advice: Readonly<Record<Taken, Readonly<Record<SecretForm, string>>>>
}

/**
 * The detail for a credential of the wrong kind or in the wrong place: what it looks like, and where it belongs. It
 * does not say whether the credential is valid.
 * @returns undefined if there is nothing to add
 */
function refusalDetail(refusal: Refusal, access: Access, arrival: GatedArrival): string | undefined {
  if (access.kind === 'public') return undefined
  const way = refusalAdvice(refusal, access, arrival)
  const inQuery = refusal.code === 'credentials-missing' ? queryAdvice(arrival.head.target) : undefined
  return inQuery === undefined || way === undefined ? way : `${inQuery} ${way}`
}

function refusalAdvice(
  { code, isMalformed }: Refusal,
  access: ProtectedAccess,
  arrival: GatedArrival,
): string | undefined {
  const { carriers } = arrival
  const credentials = credentialsOf(arrival)
  if (access.leavesAuthorization)
    return code === 'credentials-missing' || code === 'scheme-not-accepted'
      ? waysBesideAuthorization(access.schemes, carriers)
      : undefined
  const texts = textsOf(carriers)
  const taken = takenBy(access.schemes)
  switch (code) {
    case 'credentials-missing':
      return texts.ways[taken]
    case 'scheme-not-accepted':
      return isCredential(credentials)
        ? (adviceFor(credentials, texts, taken) ?? texts.notTaken[credentials.kind])
        : texts.unknownScheme[taken]
    case 'token-invalid':
      return isCredential(credentials) ? adviceFor(credentials, texts, taken) : undefined
    case 'secret-key-invalid':
      return isMalformed && isCredential(credentials) ? keyAdvice(credentials, texts, taken) : undefined
    default:
      return undefined
  }
}

/** On a route whose Authorization field belongs to the backend. */
function waysBesideAuthorization(schemes: readonly SchemeName[], { headers }: Carriers): string {
  const way =
    schemes.includes('secretKey') && headers.length > 0
      ? `Send a secret key ${listText(describeCarriers({ headers, bearer: false, basic: false, certificate: false }))}`
      : 'Sign in: this path takes the access cookie'
  return `${way}. Authorization is for the service behind this path.`
}

function takenBy(schemes: readonly SchemeName[]): Taken {
  const [first = 'secretKey', second] = schemes
  return second === undefined ? first : 'both'
}

/** Advice about a credential of another form than its place expects. */
function adviceFor({ kind, text }: Credential, texts: Texts, taken: Taken): string | undefined {
  const form = formOf(text)
  const isExpected = form === (kind === 'secretKey' ? 'secretKey' : 'jwt')
  if (form === undefined || (isExpected && (taken === 'both' || taken === kind))) return undefined
  return texts.advice[taken][form]
}

function keyAdvice(credential: Credential, texts: Texts, taken: Taken): string | undefined {
  const advice = adviceFor(credential, texts, taken)
  if (advice !== undefined || credential.carrier !== basicCarrier || formOf(credential.text) === 'secretKey')
    return advice
  return notThePassword
}

const notThePassword =
  'The password of Authorization: Basic is not a secret key. The user name is ignored: a key belongs in the password.'

const textsOf = memoizeByObject((carriers: Carriers): Texts => {
  const places = listText(describeCarriers(carriers))
  const token = 'an access token as Authorization: Bearer'
  const ways = {
    secretKey: `Send a secret key ${places}.`,
    bearer: `Send ${token}.`,
    both: `Send a secret key ${places}, or ${token}.`,
  }
  const exchange = `Get an access token for both keys from POST ${accessTokenPath}.`
  const apiKey = 'This is an API key, which authenticates nothing by itself.'
  const refreshToken = `This is a refresh token: exchange it for an access token at POST ${refreshTokenPath}.`
  const keysOnly = 'This path takes secret keys only.'
  const tokensOnly = 'This path takes access tokens only.'
  const here = {
    secretKey: `This is a secret key: send it ${places}.`,
    apiKey: `${apiKey} Send the secret key ${places}.`,
    refreshToken,
    jwt: `This is a JWT: send ${token}.`,
  }
  const forKeys = {
    ...here,
    refreshToken: `${refreshToken} ${keysOnly}`,
    jwt: `This is a JWT. ${keysOnly} ${ways.secretKey}`,
  }
  const forTokens = {
    ...here,
    secretKey: `This is a secret key. ${tokensOnly} ${exchange}`,
    apiKey: `${apiKey} ${tokensOnly} ${exchange}`,
  }
  const unknown = 'This path does not take this scheme of Authorization.'
  return {
    ways,
    unknownScheme: {
      secretKey: `${unknown} ${ways.secretKey}`,
      bearer: `${unknown} ${ways.bearer}`,
      both: `${unknown} ${ways.both}`,
    },
    notTaken: { secretKey: `${tokensOnly} ${ways.bearer}`, bearer: `${keysOnly} ${ways.secretKey}` },
    advice: { secretKey: forKeys, bearer: forTokens, both: here },
  }
})

/** Names of parameters in which clients of other services send keys and tokens. */
const credentialParameter =
  /[?&](?:(?:x[-_])?api[-_]?key|key|secret[-_]?key|access[-_]?token|auth[-_]?token|token|jwt|bearer|authorization)=/i
/**
 * A key of the gateway, or a JWT, whatever the parameter is called. The name must not contain `?`, which bounds the
 * work for a query full of them: only what follows the last is looked at.
 */
const credentialValue = /[?&][^=&?]{0,64}=(?:eyJ|[a-z][a-z0-9]{0,15}_[sa]k_|g[sa]k_)/
/** Signed URLs of stores: S3 and its dialects, Google, Azure, CloudFront. */
const signature = /[?&](?:x-[a-z]{2,5}-signature|signature|sig|awsaccesskeyid)=/i

const queryAdvices = {
  credential:
    'A credential in the query is not accepted: URLs end up in logs, in histories and on other sites.',
  signature:
    'The URL is signed for the service behind this path, which does not tell the gateway who is calling: authenticate too.',
} as const

/**
 * The advice if the query seems to hold a credential, which is not read from there; undefined if it does not.
 * @param target of the request, as received
 */
export function queryAdvice(target: string): string | undefined {
  const queryAt = target.indexOf('?')
  if (queryAt === -1) return undefined
  const query = target.slice(queryAt)
  if (signature.test(query)) return queryAdvices.signature
  return credentialParameter.test(query) || credentialValue.test(query) ? queryAdvices.credential : undefined
}
