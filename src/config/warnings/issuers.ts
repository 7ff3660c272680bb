import { defaultRole } from '#accounts/account-input.ts'
import { anyText, isSecureUrl, plainSpelling } from '#identity/issuers/issuer.ts'
import { adminRole } from '#store/accounts.ts'
import type { Warning } from '../problem.ts'
import type { ConfigTree } from '../schema/schema.ts'

type Issuers = Pick<ConfigTree, 'issuers'>
type IssuerTree = ConfigTree['issuers'][number]

/** Issuers whose users have more than the lowest role although nothing in their tokens says so. */
export function findRolesByDefault({ issuers }: Issuers): Warning[] {
  return [...issuers.entries()]
    .filter(([, { role }]) => role.default !== defaultRole)
    .map(([index, { name, role }]) => {
      const isAdmin = role.default === adminRole
      const what = isAdmin
        ? 'an Admin, who manages all accounts'
        : `${role.default}, which is not the least privileged role`
      return {
        path: ['issuers', index, 'role', 'default'],
        message: `makes everybody who gets a token of issuer "${name}" ${what}`,
        hint: isAdmin ? 'name Admins in role.map' : `name those who are ${role.default} in role.map`,
      }
    })
}

/** An issuer at which anybody can get a token. */
interface PublicIssuer {
  readonly isMeant: (url: URL) => boolean
  /** Who can get one, for any audience. */
  readonly who: string
  /** Claims that say whose token it is; the value of one of them must be pinned. */
  readonly claims: readonly [string, ...string[]]
}

const microsoft = new Set(['common', 'organizations', 'consumers', '9188040d-6c67-4c5b-b112-36a304b66dad'])

const publicIssuers: readonly PublicIssuer[] = [
  {
    isMeant: isAt('https://token.actions.githubusercontent.com'),
    who: 'a workflow of any repository on GitHub',
    claims: [
      ...(['repository', 'repository_id', 'repository_owner', 'repository_owner_id'] as const),
      ...(['job_workflow_ref', 'workflow_ref', 'enterprise', 'enterprise_id', 'sub'] as const),
    ],
  },
  {
    isMeant: isAt('https://gitlab.com'),
    who: 'a job of any project on gitlab.com',
    claims: ['project_path', 'project_id', 'namespace_path', 'namespace_id', 'ci_config_ref_uri', 'sub'],
  },
  {
    isMeant: isAt('https://accounts.google.com'),
    who: 'anybody with a Google account',
    claims: ['hd', 'email', 'azp', 'sub'],
  },
  {
    isMeant: ({ hostname }) => hostname.endsWith('.auth0.com'),
    who: 'every application of the tenant, and whoever can sign up there,',
    claims: ['azp', 'org_id', 'sub'],
  },
  {
    isMeant: ({ hostname, pathname }) =>
      (hostname === 'login.microsoftonline.com' || hostname === 'sts.windows.net') &&
      microsoft.has(pathname.split('/')[1]?.toLowerCase() ?? ''),
    who: 'anybody with a Microsoft account',
    claims: ['tid', 'azp', 'appid', 'oid', 'sub'],
  },
]

function isAt(issuer: string): (url: URL) => boolean {
  return ({ href }) => plainSpelling(href) === issuer
}

/**
 * Public issuers that are trusted without a claim that says whose tokens are accepted, although anybody can ask them
 * for any audience.
 */
export function findOpenIssuers({ issuers }: Issuers): Warning[] {
  return [...issuers.entries()].flatMap(([index, issuer]): Warning[] => {
    const url = URL.parse(issuer.issuer)
    const found = url ? publicIssuers.find(({ isMeant }) => isMeant(url)) : undefined
    if (!found) return []
    const { who, claims } = found
    const path = ['issuers', index]
    const open = {
      path,
      message: `${who} gets tokens of issuer "${issuer.name}"`,
      hint: `say in require which are accepted, such as by ${claims[0]}, without * before the first slash`,
    }
    const unread = {
      path,
      message: `audience is left out, so tokens of issuer "${issuer.name}" that were made for others are accepted`,
      hint: 'request tokens with an audience of your own, and set it',
    }
    return [
      ...(claims.some((name) => isPinned(issuer, name)) ? [] : [open]),
      ...(issuer.audience === undefined ? [unread] : []),
    ]
  })
}

/** Whether each value names an owner: `acme*` also matches the name of somebody else, `acme/*` does not. */
function isPinned({ require }: IssuerTree, name: string): boolean {
  const values = Object.hasOwn(require, name) ? require[name] : undefined
  return (
    values?.every((value) => {
      const start = value.indexOf(anyText)
      return start === -1 || value.slice(0, start).includes('/')
    }) === true
  )
}

/** Tokens, and the secret of the client, that anybody on the way can read. */
export function findCleartextIntrospection({ issuers }: Issuers): Warning[] {
  return [...issuers.entries()].flatMap(([index, { name, introspection }]): Warning[] =>
    introspection === undefined || isSecureUrl(introspection.url)
      ? []
      : [
          {
            path: ['issuers', index, 'introspection', 'url'],
            message: `sends tokens of issuer "${name}" and the client's secret unencrypted`,
            hint: 'use https://, unless nobody else can read or answer on that network',
          },
        ],
  )
}
