import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { reloadWith, taken } from '../../gateway/support/reload.ts'
import type { TestGateway } from '../../setup/gateway.ts'

/** An image, 240 by 60. */
export const svg = (more = '') =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="60">${more}<rect width="240" height="60" fill="#888"/></svg>`
/** Has a gateway take a branding, whose logo is in a file beside its config. */
export async function brand(t: Test, gateway: TestGateway, branding: object, logo = svg()): Promise<void> {
  writeFileSync(join(dirname(gateway.configFile), 'logo'), logo)
  t.match(await reloadWith(gateway, { portal: { branding: { ...branding, logo: { file: 'logo' } } } }), taken)
}

/** @returns the page, the URL path of the logo, and the Content-Security-Policy */
export async function signInPageOf({ url }: TestGateway) {
  const response = await fetch(`${url}/portal/sign-in`)
  const html = await response.text()
  const [, logo] = /<img src="([^"]+)" alt="([^"]*)">/.exec(html) ?? []
  return { html, logo, policy: response.headers.get('content-security-policy') ?? '' }
}
