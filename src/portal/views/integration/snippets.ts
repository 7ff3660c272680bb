import { oauthTokenPath } from '#gateway/routes/own-operations.ts'
import type { Carriers } from '#identity/carriers.ts'
import { shellWord } from '#platform/text.ts'

/** Example code. It reads the caller's keys from the environment, so that no key ends up in source code. */
export interface Snippet {
  readonly language: string
  /** Sends the secret key with each request. */
  readonly withSecretKey: string
  /** Gets and sends an access token. */
  readonly withToken: string
}

export interface SnippetOptions {
  /** The origin that clients see. */
  readonly baseUrl: string
  /** A path that the account may call. */
  readonly path: string
  readonly carriers: Carriers
}

/** The same two calls in each language, without dependencies. */
export function createSnippets(options: SnippetOptions): readonly Snippet[] {
  return [curl, javaScript, python, go].map((write) => write(options))
}

function curl({ baseUrl, path, carriers }: SnippetOptions): Snippet {
  return {
    language: 'curl',
    withSecretKey: `curl ${shellWord(baseUrl + path)} ${snippetKeys(carriers).curl}`,
    withToken: `TOKEN=$(curl -s ${shellWord(baseUrl + oauthTokenPath)} \\
  -u "$GATEHOUSE_API_KEY:$GATEHOUSE_SECRET_KEY" \\
  -d grant_type=client_credentials \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl ${shellWord(baseUrl + path)} -H "Authorization: Bearer $TOKEN"`,
  }
}

function javaScript({ baseUrl, path, carriers }: SnippetOptions): Snippet {
  const url = JSON.stringify(baseUrl + path)
  return {
    language: 'JavaScript',
    withSecretKey: `import { env } from 'node:process'

const response = await fetch(${url}, {
  headers: { ${snippetKeys(carriers).javaScript} },
})
console.log(response.status, await response.text())`,
    withToken: `import { env } from 'node:process'

const tokenResponse = await fetch(${JSON.stringify(baseUrl + oauthTokenPath)}, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: env.GATEHOUSE_API_KEY,
    client_secret: env.GATEHOUSE_SECRET_KEY,
  }),
})
const { access_token: token } = await tokenResponse.json()

const response = await fetch(${url}, {
  headers: { Authorization: \`Bearer \${token}\` },
})
console.log(response.status, await response.text())`,
  }
}

function python({ baseUrl, path, carriers }: SnippetOptions): Snippet {
  const key = snippetKeys(carriers)
  const url = JSON.stringify(baseUrl + path)
  return {
    language: 'Python',
    withSecretKey: `import os
${key.pythonImport}from urllib.request import Request, urlopen

request = Request(${url}, headers={${key.python}})
with urlopen(request) as response:
    print(response.status, response.read().decode())`,
    withToken: `import json, os
from urllib.parse import urlencode
from urllib.request import Request, urlopen

client = {
    "grant_type": "client_credentials",
    "client_id": os.environ["GATEHOUSE_API_KEY"],
    "client_secret": os.environ["GATEHOUSE_SECRET_KEY"],
}
with urlopen(${JSON.stringify(baseUrl + oauthTokenPath)}, urlencode(client).encode()) as response:
    token = json.load(response)["access_token"]

request = Request(${url}, headers={"Authorization": f"Bearer {token}"})
with urlopen(request) as response:
    print(response.status, response.read().decode())`,
  }
}

/** The end of each Go program. */
const goSend = `	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	fmt.Println(response.Status, string(body))
}`

function go({ baseUrl, path, carriers }: SnippetOptions): Snippet {
  const url = JSON.stringify(baseUrl + path)
  return {
    language: 'Go',
    withSecretKey: `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	request, _ := http.NewRequest("GET", ${url}, nil)
	${snippetKeys(carriers).go}
${goSend}`,
    withToken: `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
)

func main() {
	tokenResponse, err := http.PostForm(${JSON.stringify(baseUrl + oauthTokenPath)}, url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {os.Getenv("GATEHOUSE_API_KEY")},
		"client_secret": {os.Getenv("GATEHOUSE_SECRET_KEY")},
	})
	if err != nil {
		panic(err)
	}
	defer tokenResponse.Body.Close()
	var issued struct {
		Token string \`json:"access_token"\`
	}
	if err := json.NewDecoder(tokenResponse.Body).Decode(&issued); err != nil {
		panic(err)
	}

	request, _ := http.NewRequest("GET", ${url}, nil)
	request.Header.Set("Authorization", "Bearer "+issued.Token)
${goSend}`,
  }
}

/** How the code in each language sends the secret key: in the first way that the gateway accepts. */
interface SnippetKeys {
  /** An option. */
  readonly curl: string
  /** A member of `headers`. */
  readonly javaScript: string
  /** The import that it needs; empty = none. */
  readonly pythonImport: string
  /** A member of `headers`. */
  readonly python: string
  /** A statement. */
  readonly go: string
}

function snippetKeys({ headers: [name], bearer }: Carriers): SnippetKeys {
  if (name !== undefined) return inHeader(name)
  return bearer ? asBearerToken : asPassword
}

const shellKey = '$GATEHOUSE_SECRET_KEY'
const javaScriptKey = 'env.GATEHOUSE_SECRET_KEY'
const pythonKey = 'os.environ["GATEHOUSE_SECRET_KEY"]'
const goKey = 'os.Getenv("GATEHOUSE_SECRET_KEY")'
const identifier = /^[A-Za-z]\w*$/
/** Names that can stand between double quotes unchanged. */
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
