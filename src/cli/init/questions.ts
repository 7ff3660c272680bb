import type { NewConfig } from '#config/new-config.ts'

/** One question of `init`: an option of the command, or what is asked on a terminal. */
export interface Question {
  readonly name: keyof NewConfig
  readonly option: string
  /** The option of the config that the answer becomes. */
  readonly sets: string
  readonly value: string
  readonly help: string
  readonly ask: string
  readonly choices?: readonly string[]
  /** What an empty answer means; undefined = an answer is needed. */
  defaultOf(answers: Partial<NewConfig>): string | undefined
  /** Whether it makes sense after the answers so far; default: always. */
  isAsked?(answers: Partial<NewConfig>): boolean
}

const authKinds = ['any', 'secretKey', 'bearer', 'optional', 'none']

/** In the order in which they are asked: a default may depend on earlier answers. */
export const questions: readonly Question[] = [
  {
    name: 'upstream',
    option: 'upstream',
    sets: 'upstreams.backend',
    value: 'URL',
    help: 'Where the backend listens, such as http://127.0.0.1:3000.',
    ask: 'Where does your backend listen',
    defaultOf: () => undefined,
  },
  {
    name: 'path',
    option: 'path',
    sets: 'routes[0].path',
    value: '/',
    help: 'Path prefix of the requests that go to it; default /.',
    ask: 'Which path prefix goes to it',
    defaultOf: () => '/',
  },
  {
    name: 'auth',
    option: 'auth',
    sets: 'routes[0].auth',
    value: authKinds.join('|'),
    help: 'How its callers authenticate; default any: by secret key or by bearer token.',
    ask: `How do callers authenticate (${authKinds.join(', ')})`,
    choices: authKinds,
    defaultOf: () => 'any',
  },
  {
    name: 'host',
    option: 'host',
    sets: 'listen.host',
    value: 'ADDRESS',
    help: 'Address that the gateway listens on; default 127.0.0.1: this machine only.',
    ask: 'Which address does the gateway listen on',
    defaultOf: () => '127.0.0.1',
  },
  {
    name: 'port',
    option: 'port',
    sets: 'listen.port',
    value: 'PORT',
    help: 'Port that it listens on; default 8080.',
    ask: 'Which port',
    defaultOf: () => '8080',
  },
  {
    name: 'publicUrl',
    option: 'public-url',
    sets: 'publicUrl',
    value: 'URL',
    help: 'URL that clients use; default http://localhost and the port.',
    ask: 'Which URL do clients use',
    // A wrong port is reported once, as that.
    defaultOf: ({ port = '' }) => `http://localhost${/^\d{1,4}$|^[1-6]\d{4}$/.test(port) ? `:${port}` : ''}`,
  },
  {
    name: 'store',
    option: 'store',
    sets: 'store.driver',
    value: 'sqlite|redis',
    help: 'Where accounts are kept: sqlite (default) for one machine, redis for many.',
    ask: 'Where are accounts kept (sqlite for one machine, redis for many)',
    choices: ['sqlite', 'redis'],
    defaultOf: () => 'sqlite',
  },
  {
    name: 'redisUrl',
    option: 'redis-url',
    sets: 'store.redis',
    value: 'URL',
    help: 'URL of Redis, without a password; default redis://127.0.0.1:6379.',
    ask: 'Where does Redis listen',
    defaultOf: () => 'redis://127.0.0.1:6379',
    isAsked: ({ store }) => store === 'redis',
  },
]
