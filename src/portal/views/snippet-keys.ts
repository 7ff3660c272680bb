import type { Carriers } from '#identity/keys/carriers.ts'
import { shellWord } from '#platform/text.ts'

/** How the code of each language sends the secret, in the first place that the gateway accepts. */
export interface SnippetKeys {
  /** An option. */
  readonly curl: string
  /** A member of `headers`. */
  readonly javaScript: string
  /** What is imported for it; empty = nothing. */
  readonly pythonImport: string
  /** A member of `headers`. */
  readonly python: string
  /** A statement. */
  readonly go: string
}

export function snippetKeys({ headers: [name], bearer }: Carriers): SnippetKeys {
  if (name !== undefined) return inHeader(name)
  return bearer ? asBearerToken : asPassword
}

const shellKey = '$GATEHOUSE_SECRET_KEY'
const javaScriptKey = 'env.GATEHOUSE_SECRET_KEY'
const pythonKey = 'os.environ["GATEHOUSE_SECRET_KEY"]'
const goKey = 'os.Getenv("GATEHOUSE_SECRET_KEY")'
const identifier = /^[A-Za-z]\w*$/
/** Names that mean the same between double quotes. */
const plainName = /^[\w.-]+$/

function inHeader(name: string): SnippetKeys {
  const quoted = JSON.stringify(name)
  return {
    curl: plainName.test(name) ? `-H "${name}: ${shellKey}"` : `-H ${shellWord(`${name}: `)}"${shellKey}"`,
    javaScript: `${identifier.test(name) ? name : quoted}: ${javaScriptKey}`,
    pythonImport: '',
    python: `${quoted}: ${pythonKey}`,
    go: `request.Header.Set(${quoted}, ${goKey})`,
  }
}

const asBearerToken: SnippetKeys = {
  curl: `-H "Authorization: Bearer ${shellKey}"`,
  javaScript: `Authorization: \`Bearer \${${javaScriptKey}}\``,
  pythonImport: '',
  python: `"Authorization": "Bearer " + ${pythonKey}`,
  go: `request.Header.Set("Authorization", "Bearer "+${goKey})`,
}

const asPassword: SnippetKeys = {
  curl: `-u "key:${shellKey}"`,
  javaScript: `Authorization: \`Basic \${btoa(\`key:\${${javaScriptKey}}\`)}\``,
  pythonImport: 'from base64 import b64encode\n',
  python: `"Authorization": "Basic " + b64encode(b"key:" + ${pythonKey}.encode()).decode()`,
  go: `request.SetBasicAuth("key", ${goKey})`,
}
