import type { Host } from './host.ts'

/** A backend on the host that answers with the headers it got, as JSON. */
export function echoBackend(host: Host, port: number): void {
  host.start([
    process.execPath,
    '-e',
    `require('node:http').createServer((request, response) => {
      response.end(JSON.stringify(request.headers))
    }).listen(${port}, '127.0.0.1')`,
  ])
}

export interface LoadOptions {
  readonly url: string
  readonly secretKey: string
  readonly requests: number
}

/** Sends requests from the host, 32 at a time. */
export async function load(
  host: Host,
  { url, secretKey, requests }: LoadOptions,
): Promise<{ readonly failed: number }> {
  const output = await host.run([
    process.execPath,
    '-e',
    `let left = ${requests}
     let failed = 0
     async function client() {
       while (left-- > 0) {
         const response = await fetch('${url}', { headers: { SecretKey: '${secretKey}' } }).catch(() => undefined)
         await response?.text()
         if (response?.status !== 200) failed++
       }
     }
     Promise.all(Array.from({ length: 32 }, client)).then(() => console.log(JSON.stringify({ failed })))`,
  ])
  return JSON.parse(output) as { readonly failed: number }
}
