/** The form by which people sign in to the portal, as a browser would send it. */
export interface SignInForm {
  send(fields: SignInFields, headers?: Readonly<Record<string, string>>): Promise<SignInAnswer>
}

interface SignInFields {
  readonly email: string
  readonly password: string
}

export interface SignInAnswer {
  readonly status: number
  readonly headers: Headers
  readonly page: string
  /** What the gateway asks the browser to send back, as a Cookie field. */
  readonly cookies: string
}

/** @param url of the gateway  @param headers of a browser, such as its cookies */
export async function openSignInForm(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<SignInForm> {
  const shown = await fetch(`${url}/portal/sign-in`, { headers })
  const csrf = /name="csrf" value="([^"]+)"/.exec(await shown.text())?.[1]
  if (csrf === undefined) throw new Error('the page has no form')
  const cookies = [headers.Cookie, cookiesOf(shown)].filter(Boolean).join('; ')
  return {
    send: async (fields, more) => {
      const response = await fetch(`${url}/portal/sign-in`, {
        method: 'POST',
        headers: { ...headers, Cookie: cookies, ...more },
        body: new URLSearchParams({ csrf, ...fields }),
        redirect: 'manual',
      })
      const { status, headers: answered } = response
      return { status, headers: answered, page: await response.text(), cookies: cookiesOf(response) }
    },
  }
}

function cookiesOf({ headers }: Response): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
}
