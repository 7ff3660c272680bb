// Asks the browser for a passkey before a form with one is sent (WebAuthn).
;(() => {
  const texts = globalThis.gatehouseTexts
  async function ask(event) {
    const form = event.target
    const { credential } = form.elements
    if (credential.value !== '') return
    event.preventDefault()
    const button = form.querySelector('button')
    showError(form, '')
    button.disabled = true
    try {
      credential.value = JSON.stringify(await answerOf(form, button.dataset))
      form.requestSubmit()
    } catch (error) {
      showError(form, textOf(error))
    }
    button.disabled = false
  }

  async function answerOf(form, { options, origin }) {
    if (location.origin !== origin) throw new Error(texts.passkeysElsewhere.replace('{origin}', origin))
    if (!globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON) throw new Error(texts.noPasskeySupport)
    const json = await fetchOptions(form, options)
    const isNew = form.dataset.passkey === 'create'
    const credential = isNew
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(json),
        })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json) })
    return credential.toJSON()
  }

  async function fetchOptions(form, url) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => undefined)
    const body = await response?.json().catch(() => undefined)
    if (response?.ok && body) return body
    if (body?.code === 'credentials-missing') location.reload()
    const [error] = body?.errors ?? []
    form.elements[error?.field]?.focus()
    throw new Error(error?.message ?? body?.detail ?? texts.noResponse)
  }

  /** The browser's own messages are not written for people, and say little on purpose. */
  function textOf({ name, message }) {
    if (name === 'Error') return message
    if (name === 'InvalidStateError') return texts.passkeyExists
    return texts.noPasskeyUsed
  }

  function showError(form, text) {
    const error = form.querySelector('[data-passkey-error]')
    error.hidden = text === ''
    error.textContent = text
    for (const other of form.querySelectorAll('[role=alert] .wrong')) other.remove()
  }

  for (const form of document.querySelectorAll('form[data-passkey]')) form.addEventListener('submit', ask)
  // A page from the back/forward cache asks again.
  addEventListener('pageshow', () => {
    for (const { elements } of document.querySelectorAll('form[data-passkey]')) elements.credential.value = ''
  })
})()
