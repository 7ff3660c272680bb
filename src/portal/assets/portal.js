// What needs a script: filling in a link's token, revealing in place, copying, polling. All forms work without it.
;(() => {
  const texts = globalThis.gatehouseTexts
  const shownMs = 60_000
  const refreshMs = 4_000

  /** Moves the token of a link into the form. It comes after the #, so that browsers send it to no server. */
  function fillFromFragment() {
    const form = document.querySelector('form[data-fill-from-fragment]')
    const token = location.hash.slice(1)
    if (!form || token === '') return
    history.replaceState(null, '', location.pathname)
    form.elements.token.value = token
    form.elements.token.closest('.field').hidden = true
    if (form.dataset.fillFromFragment === 'submit') return form.requestSubmit()
    form.querySelector('input[type=password], button').focus()
  }

  function announce(box, text) {
    box.parentElement.querySelector('[data-message]').textContent = text
  }

  async function copy(button) {
    const source = button.closest('.code, .secret').querySelector('code')
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = texts.copied
    setTimeout(() => {
      button.textContent = texts.copy
    }, 2_000)
  }

  function enableCopyButtons() {
    if (!navigator.clipboard) return
    for (const button of document.querySelectorAll('[data-copy]')) {
      button.hidden = button.closest('.masked') !== null
      button.addEventListener('click', () => copy(button))
    }
  }

  /** Saves the visible text as a file, without a request. */
  function save(button) {
    const source = button.closest('.code').querySelector('code')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([source.textContent], { type: 'text/csv' }))
    link.download = button.dataset.save
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), shownMs)
  }

  function enableSaveButtons() {
    for (const button of document.querySelectorAll('[data-save]')) {
      button.hidden = false
      button.addEventListener('click', () => save(button))
    }
  }

  function show(kind, key) {
    const box = document.querySelector(`[data-key="${kind}"]`)
    box.classList.toggle('masked', key === undefined)
    const text = key ?? box.dataset.masked
    box.querySelector('code').textContent = text
    box.querySelector('[data-copy]').hidden = key === undefined || !navigator.clipboard
    for (const element of document.querySelectorAll(`[data-key-text="${kind}"]`)) element.textContent = text
    updateEnvironmentMask()
    return box
  }

  /** The environment lines can be copied once both keys are visible. */
  function updateEnvironmentMask() {
    const block = document.querySelector('.code:has([data-key-text])')
    const isMasked = document.querySelector('.secret.masked') !== null
    block.classList.toggle('masked', isMasked)
    block.querySelector('[data-copy]').hidden = isMasked || !navigator.clipboard
  }

  /** Shows a key for a minute, or until it is hidden; meanwhile the reveal form is hidden. */
  function reveal(section, kind, key) {
    const box = show(kind, key)
    const card = box.closest('.card')
    const hideButton = box.querySelector('[data-hide]')
    const hide = () => {
      clearTimeout(timer)
      hideButton.hidden = true
      section.hidden = false
      card.querySelector('[data-replacement]')?.remove()
      show(kind, undefined)
      announce(box, texts.hiddenAgain)
    }
    const timer = setTimeout(hide, shownMs)
    section.hidden = true
    hideButton.hidden = false
    hideButton.onclick = () => {
      hide()
      section.querySelector('summary').focus()
    }
    announce(box, texts.shownForOneMinute)
    focusCopyButton(box)
  }

  function focusCopyButton(box) {
    box.querySelector('[data-copy]:not([hidden]), [data-hide]:not([hidden])')?.focus()
  }

  /** Starts the timer of a key that came with the page, as after a reset. One that cannot be revealed again stays visible. */
  function startShownKeys() {
    for (const box of document.querySelectorAll('.secret[data-key]:not(.masked)')) {
      const section = box.closest('.card').querySelector('[data-reveal-section]')
      if (section) reveal(section, box.dataset.key, box.querySelector('code').textContent)
      else focusCopyButton(box)
    }
  }

  /** Submits the form as the browser would, but gets data in response. */
  async function submitReveal(event) {
    const form = event.target
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => undefined)
    button.disabled = false
    const body = await response?.json().catch(() => undefined)
    if (form.elements.password) form.elements.password.value = ''
    clearFieldError(form)
    if (response?.ok && body) {
      const section = form.closest('details')
      section.open = false
      reveal(section, form.dataset.reveal, body.key)
    } else if (response?.status === 401 && body?.code === 'credentials-missing') location.reload()
    else showFieldError(form, body?.errors?.[0]?.message ?? body?.detail ?? texts.noResponse)
  }

  /** Shows an error at a field as the server would: the form holds a template for it. */
  function showFieldError(form, text) {
    const { password } = form.elements
    const error = form.querySelector('template').content.firstElementChild.cloneNode(true)
    error.querySelector('span').textContent = text
    error.setAttribute('role', 'alert')
    // Without a password to ask for, the form has a link to confirm elsewhere.
    if (!password) return form.querySelector('button').before(error)
    password.after(error)
    password.setAttribute('aria-invalid', 'true')
    password.setAttribute('aria-describedby', error.id)
    password.focus()
  }

  /** Removes the error once the field is edited. */
  function clearFieldError(form) {
    form.querySelector('.wrong')?.remove()
    form.elements.password?.removeAttribute('aria-invalid')
    form.elements.password?.removeAttribute('aria-describedby')
  }

  /** Polls the use of the old secret key while the page is visible. */
  function pollUsage() {
    const part = document.querySelector('[data-live]')
    if (!part) return
    const sentence = part.querySelector('[data-usage]')
    const poll = async () => {
      if (document.hidden) return
      const response = await fetch(part.dataset.live, { headers: { Accept: 'application/json' } }).catch(
        () => undefined,
      )
      if (!response?.ok) return
      const { isOver, isUsed, text } = await response.json()
      if (text !== sentence.textContent) sentence.textContent = text
      for (const section of part.querySelectorAll('[data-end]'))
        section.hidden = isOver || isUsed !== (section.dataset.end === 'used')
      if (isOver) clearInterval(timer)
    }
    const timer = setInterval(poll, refreshMs)
    document.addEventListener('visibilitychange', poll)
  }

  /** Keeps the chosen language across pages. */
  function rememberLanguage() {
    const tabs = [...document.querySelectorAll('input[name=language]')]
    const remembered = tabs.find(({ id }) => id === sessionStorage.getItem('language'))
    if (remembered) remembered.checked = true
    for (const tab of tabs) tab.addEventListener('change', () => sessionStorage.setItem('language', tab.id))
  }

  fillFromFragment()
  enableCopyButtons()
  enableSaveButtons()
  for (const form of document.querySelectorAll('form[data-reveal]')) {
    form.addEventListener('submit', submitReveal)
    form.addEventListener('input', () => clearFieldError(form))
  }
  startShownKeys()
  pollUsage()
  rememberLanguage()
  // A page from the browser's back/forward cache must not show keys again.
  addEventListener('pageshow', (event) => event.persisted && location.reload())
})()
