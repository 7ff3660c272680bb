import type { Access, SchemeName } from '#identity/access.ts'
import type { Credential, Credentials } from '#identity/credentials.ts'
import type { Refusal } from '#identity/decision.ts'
import { type Carriers, describeCarriers } from '#identity/keys/carriers.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import { formOf, type SecretForm } from '#platform/secrets/format.ts'
import { listText } from '#platform/text.ts'
import { accessTokenPath, refreshTokenPath } from '../routes/own-paths.ts'
import { queryAdvice } from './query-credential.ts'

type ProtectedAccess = Extract<Access, { readonly kind: 'protected' }>

/** What a route takes: keys, tokens, or both. */
type Taken = SchemeName | 'both'

/** The texts for one config: refusals must be cheap, so none is put together for a request. */
interface Texts {
  /** What to send. */
  readonly ways: Readonly<Record<Taken, string>>
  readonly unknownScheme: Readonly<Record<Taken, string>>
  readonly notTaken: Readonly<Record<SchemeName, string>>
  /** What was sent, and where it belongs. */
  readonly advice: Readonly<Record<Taken, Readonly<Record<SecretForm, string>>>>
}

/**
 * What a client is told beyond the text of the code, about a credential that is of the wrong kind or in the wrong
 * place: what it looks like, and where that belongs. It says nothing of whether it is valid.
 * @returns undefined where there is nothing to add
 */
export function refusalDetail(
  { code, isMalformed }: Pick<Refusal, 'code' | 'isMalformed'>,
  access: Access,
  { credentials, carriers, target }: RefusedRequest,
): string | undefined {
  if (access.kind === 'public') return undefined
  const way = wayIn(code, { isMalformed, access }, { credentials, carriers })
  const inQuery = code === 'credentials-missing' ? queryAdvice(target) : undefined
  return inQuery === undefined || way === undefined ? way : `${inQuery} ${way}`
}

/** What was sent, and where. */
interface RefusedRequest {
  readonly credentials: Credentials
  readonly carriers: Carriers
  /** As it came. */
  readonly target: string
}

function wayIn(
  code: ErrorCode,
  { isMalformed, access }: { readonly isMalformed: boolean; readonly access: ProtectedAccess },
  { credentials, carriers }: Pick<RefusedRequest, 'credentials' | 'carriers'>,
): string | undefined {
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

/** Where Authorization is the backend's. */
function waysBesideAuthorization(schemes: readonly SchemeName[], { headers }: Carriers): string {
  const way =
    schemes.includes('secretKey') && headers.length > 0
      ? `Send a secret key ${listText(describeCarriers({ headers, bearer: false, basic: false }))}`
      : 'Sign in: this path takes the access cookie'
  return `${way}. Authorization is for the service behind this path.`
}

function isCredential(credentials: Credentials): credentials is Credential {
  return credentials.kind === 'secretKey' || credentials.kind === 'bearer'
}

function takenBy(schemes: readonly SchemeName[]): Taken {
  const [first = 'secretKey', second] = schemes
  return second === undefined ? first : 'both'
}

/** Advice about a credential of another form than its place is for. */
function adviceFor({ kind, text }: Credential, texts: Texts, taken: Taken): string | undefined {
  const form = formOf(text)
  const isExpected = form === (kind === 'secretKey' ? 'secretKey' : 'jwt')
  if (form === undefined || (isExpected && (taken === 'both' || taken === kind))) return undefined
  return texts.advice[taken][form]
}

function keyAdvice(credential: Credential, texts: Texts, taken: Taken): string | undefined {
  const advice = adviceFor(credential, texts, taken)
  if (advice !== undefined || credential.carrier !== 'basic' || formOf(credential.text) === 'secretKey')
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
