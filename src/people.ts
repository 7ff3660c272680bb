import { type ActsOf, type ActsOptions, createActs } from './accounts/acts.ts'
import { createPasswords } from './accounts/passwords.ts'
import { createEmailVerification, type EmailVerification, type SendMail } from './accounts/profile.ts'
import { createSealer, deriveKey } from './accounts/sealing.ts'
import { createKnownClients } from './auth/known-clients.ts'
import { createPasswordCheck } from './auth/password-check.ts'
import type { Limiter } from './auth/rate-limit.ts'
import { createSignIn, type SignIn } from './auth/sign-in.ts'
import type { Config } from './config/config.ts'
import type { Store } from './store/store.ts'

/** All that people can do with accounts, their own or others', in the portal and through the admin API. */
export interface People {
  readonly signIn: SignIn
  readonly actsOf: ActsOf
  readonly emailVerification: EmailVerification
}

export interface PeopleOptions {
  readonly config: Config
  readonly store: Store
  readonly sealingKey: Uint8Array
  readonly limiter: Limiter
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

export function createPeople({ config, store, sealingKey, limiter, clock }: PeopleOptions): People {
  const passwords = createPasswords({ pepper: deriveKey(sealingKey, 'password') })
  return {
    signIn: createSignIn({
      store,
      passwords,
      check: createPasswordCheck({ store, passwords, limiter, failures: config.failures, clock }),
      knownClients: createKnownClients(deriveKey(sealingKey, 'known clients')),
      sessionLifetimeMs: config.portal.sessionLifetimeMs,
      clock,
    }),
    actsOf: createPeoplesActs({ config, store, sealingKey, limiter, clock }),
    emailVerification: createEmailVerification({ store, clock }),
  }
}

/** Only the acts, for commands, where nobody signs in. */
export function createPeoplesActs({
  config,
  store,
  sealingKey,
  limiter,
  clock,
}: Omit<PeopleOptions, 'limiter'> & Pick<ActsOptions, 'limiter'>): ActsOf {
  return createActs({
    store,
    sealer: createSealer(sealingKey),
    reveal: config.keys.reveal,
    limiter,
    clock,
    refreshIdleMs: config.tokens.refreshIdleMs,
    portalUrl: config.publicOrigin + config.portal.path,
    sendMail: config.mail && lazyMailer(config.mail),
  })
}

/** Loads the library with the first mail, so that a start need not wait for it. */
function lazyMailer(mail: NonNullable<Config['mail']>): SendMail {
  let sending: Promise<SendMail> | undefined
  return async (message) => {
    sending ??= import('./mail/mailer.ts').then(({ createMailer }) => createMailer(mail))
    return (await sending)(message)
  }
}
