import type { CreatedAccount } from '../accounts/accounts.ts'
import type { Gateway } from '../gateway.ts'

/** What `serve --demo` says once it runs: where it is, the keys of the first account, lines to paste. */
export function welcome({ url, opsUrl }: Gateway, first: CreatedAccount | undefined): string[] {
  const where = ['', `Gatehouse runs at ${url}; operators look at ${opsUrl}/metrics.`, '']
  if (!first)
    return [...where, 'The keys of an account: npm run -s gatehouse -- keys show admin@localhost', '']
  const { account, secretKey, apiKey } = first
  const tokenCall = `curl -s ${url}/api/v1/accounts/access-token -H 'Content-Type: application/json' -d '{"SecretKey":"${secretKey}","APIKey":"${apiKey}"}'`
  return [
    ...where,
    `A first account has been made: ${account.email}, ${account.role}. Its keys are shown this once:`,
    `  Secret key  ${secretKey}`,
    `  API key     ${apiKey}`,
    '',
    'Without credentials, with the secret key, and with a bearer token:',
    '',
    `curl -i ${url}/hello`,
    '',
    `curl ${url}/hello -H 'SecretKey: ${secretKey}'`,
    '',
    tokenCall,
    '',
    `curl ${url}/hello -H "Authorization: Bearer $(${tokenCall} | sed 's/.*"JwtToken":"\\([^"]*\\)".*/\\1/')"`,
    '',
  ]
}
