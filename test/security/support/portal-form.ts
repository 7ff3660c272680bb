type Fields = Readonly<Record<string, string>>

export interface PortalResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The cookies that are set, as a Cookie field. */
  readonly cookies: string
}

/**
 * Asks for a page with a form. What is sent may be another browser's: a form is bound to its cookie, not to an address.
 * @param path such as `/sign-in`
 * @param action where it is sent, if it is another path
 */
export async function openPortalForm(url: string, path: string, action = path) {
  const { csrf, cookies: bound } = await readPortalForm(url, path)

  /** @param headers beside those of the form: other cookies, and what a proxy in front says */
  return async function send(fields: Fields, headers: Fields = {}): Promise<PortalResponse> {
    const response = await fetch(`${url}/portal${action}`, {
      method: 'POST',
      headers: { ...headers, Cookie: [bound, headers.Cookie].filter(Boolean).join('; ') },
      body: new URLSearchParams({ csrf, ...fields }),
      redirect: 'manual',
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, cookies: cookiesOf(response) }
  }
}

/** What a form is sent with. @param cookies those of a browser that is signed in */
export async function readPortalForm(url: string, path: string, cookies = '') {
  const shown = await fetch(`${url}/portal${path}`, { headers: cookies === '' ? {} : { Cookie: cookies } })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await shown.text())?.[1]
  if (csrf === undefined) throw new Error('the page has no form')
  return { csrf, cookies: [cookies, cookiesOf(shown)].filter(Boolean).join('; ') }
}

function cookiesOf({ headers }: Response): string {
  const set = headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '')
  return set.filter((pair) => !pair.endsWith('=')).join('; ')
}
