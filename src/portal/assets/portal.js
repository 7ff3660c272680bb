// What only a script can do: fill in a link's token, reveal, copy, keep up to date. All forms work without it.
;(() => {
  const shownMs = 60_000
  const refreshMs = 4_000

  /** The token of a link is after its #, which no server sees: it is moved from there into the form. */
  function fillFromFragment() {
    const form = document.querySelector('form[data-fill-from-fragment]')
    const token = location.hash.slice(1)
    if (!form || token === '') return
    history.replaceState(null, '', location.pathname)
    form.elements.token.value = token
    form.elements.token.closest('.field').hidden = true
    form.querySelector('input[type=password], button').focus()
  }

  function say(box, text) {
    box.parentElement.querySelector('[data-said]').textContent = text
  }

  async function copy(button) {
    const source = button.closest('.code, .secret').querySelector('code')
    await navigator.clipboard.writeText(source.textContent)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  }

  function offerCopying() {
    if (!navigator.clipboard) return
    for (const button of document.querySelectorAll('[data-copy]')) {
      button.hidden = button.closest('.masked') !== null
      button.addEventListener('click', () => copy(button))
    }
  }

  /** Saves the visible text as a file, without asking a server. */
  function save(button) {
    const source = button.closest('.code').querySelector('code')
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([source.textContent], { type: 'text/csv' }))
    link.download = button.dataset.save
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), shownMs)
  }

  function offerSaving() {
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
    for (const place of document.querySelectorAll(`[data-key-text="${kind}"]`)) place.textContent = text
    maskLines()
    return box
  }

  /** Lines with both keys can be copied once both are visible. */
  function maskLines() {
    const lines = document.querySelector('.code:has([data-key-text])')
    const isMasked = document.querySelector('.secret.masked') !== null
    lines.classList.toggle('masked', isMasked)
    lines.querySelector('[data-copy]').hidden = isMasked || !navigator.clipboard
  }

  /** Shows a key for a minute, or until it is hidden; meanwhile there is nothing to reveal. */
  function reveal(act, kind, key) {
    const box = show(kind, key)
    const card = box.closest('.card')
    const hideButton = box.querySelector('[data-hide]')
    const hide = () => {
      clearTimeout(timer)
      hideButton.hidden = true
      act.hidden = false
      card.querySelector('[data-made]')?.remove()
      show(kind, undefined)
      say(box, 'Hidden again.')
    }
    const timer = setTimeout(hide, shownMs)
    act.hidden = true
    hideButton.hidden = false
    hideButton.onclick = () => {
      hide()
      act.querySelector('summary').focus()
    }
    say(box, 'Shown for one minute.')
    goToCopy(box)
  }

  function goToCopy(box) {
    box.querySelector('[data-copy]:not([hidden]), [data-hide]:not([hidden])')?.focus()
  }

  /** A key that came with the page, as after a reset. A key that cannot be revealed again stays visible. */
  function takeShown() {
    for (const box of document.querySelectorAll('.secret[data-key]:not(.masked)')) {
      const act = box.closest('.card').querySelector('[data-reveal-act]')
      if (act) reveal(act, box.dataset.key, box.querySelector('code').textContent)
      else goToCopy(box)
    }
  }

  /** Sends a form as the browser would, and takes the answer as data. */
  async function submitReveal(event) {
    const form = event.target
    event.preventDefault()
    const button = form.querySelector('button')
    button.disabled = true
    const answer = await fetch(form.action, {
      method: 'POST',
      headers: { Accept: 'application/json' },
      body: new URLSearchParams(new FormData(form)),
    }).catch(() => undefined)
    button.disabled = false
    const body = await answer?.json().catch(() => undefined)
    form.elements.password.value = ''
    withdraw(form)
    if (answer?.ok && body) {
      const act = form.closest('details')
      act.open = false
      reveal(act, form.dataset.reveal, body.key)
    } else if (answer?.status === 401 && body?.code === 'credentials-missing') location.reload()
    else
      complain(form, body?.errors?.[0]?.message ?? body?.detail ?? 'The gateway did not answer. Try again.')
  }

  /** Shows an error at a field as the page itself would: the form holds a template for it. */
  function complain(form, text) {
    const { password } = form.elements
    const place = form.querySelector('template').content.firstElementChild.cloneNode(true)
    place.querySelector('span').textContent = text
    place.setAttribute('role', 'alert')
    password.after(place)
    password.setAttribute('aria-invalid', 'true')
    password.setAttribute('aria-describedby', place.id)
    password.focus()
  }

  /** Removes the error once the field is typed in again. */
  function withdraw(form) {
    form.querySelector('.wrong')?.remove()
    form.elements.password.removeAttribute('aria-invalid')
    form.elements.password.removeAttribute('aria-describedby')
  }

  /** Updates a sentence of the page again and again while the page is visible. */
  function keepUpToDate() {
    const part = document.querySelector('[data-live]')
    if (!part) return
    const place = part.querySelector('[data-usage]')
    const ask = async () => {
      if (document.hidden) return
      const answer = await fetch(part.dataset.live, { headers: { Accept: 'application/json' } }).catch(
        () => undefined,
      )
      if (!answer?.ok) return
      const { isOver, isUsed, text } = await answer.json()
      if (text !== place.textContent) place.textContent = text
      for (const act of part.querySelectorAll('[data-end]'))
        act.hidden = isOver || isUsed !== (act.dataset.end === 'used')
      if (isOver) clearInterval(timer)
    }
    const timer = setInterval(ask, refreshMs)
    document.addEventListener('visibilitychange', ask)
  }

  /** Keeps the chosen language on the page that answers a form. */
  function keepLanguage() {
    const tabs = [...document.querySelectorAll('input[name=language]')]
    const kept = tabs.find(({ id }) => id === sessionStorage.getItem('language'))
    if (kept) kept.checked = true
    for (const tab of tabs) tab.addEventListener('change', () => sessionStorage.setItem('language', tab.id))
  }

  fillFromFragment()
  offerCopying()
  offerSaving()
  for (const form of document.querySelectorAll('form[data-reveal]')) {
    form.addEventListener('submit', submitReveal)
    form.addEventListener('input', () => withdraw(form))
  }
  takeShown()
  keepUpToDate()
  keepLanguage()
  // A page that comes back from the browser's cache must not show keys again.
  addEventListener('pageshow', (event) => event.persisted && location.reload())
})()
