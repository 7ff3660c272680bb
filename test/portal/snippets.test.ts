import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { createCarriers } from '#identity/carriers.ts'
import { createSnippets } from '#portal/views/integration/snippets.ts'
import { startBoth } from '../setup/both.ts'

// needs: curl, python3

const run = promisify(execFile)

const programs: Readonly<Record<string, readonly string[]>> = {
  curl: ['sh', '-c'],
  JavaScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
}

for (const accept of [['SecretKey'], ["X-Api.Key!#$%&'*+^_`|~"], ['bearer'], ['basic'], ['basic', 'X-Key']]) {
  t.test(`the code examples work with keys.accept: ${accept.join(', ')}`, async (t) => {
    const keys = { sealingKey: { file: 'sealing.key' }, accept }
    const { backend, gateway } = await startBoth(t, { config: { keys } })
    const { account, secretKey, apiKey } = await gateway.createAccount()
    const { PATH } = process.env
    const env = { PATH, GATEHOUSE_SECRET_KEY: secretKey, GATEHOUSE_API_KEY: apiKey }
    const options = { baseUrl: gateway.url, path: '/any', carriers: createCarriers(accept) }
    for (const { language, withSecretKey, withToken } of createSnippets(options)) {
      const [program = '', ...args] = programs[language] ?? []
      if (program === '') continue
      for (const code of [withSecretKey, withToken]) {
        const seen = backend.seen.length
        const { stdout } = await run(program, [...args, code], { env })
        t.match(stdout, /ok/, language)
        t.equal(backend.seen.length, seen + 1)
        t.equal(backend.last().headers['x-user-id'], account.id, language)
      }
    }
  })
}
