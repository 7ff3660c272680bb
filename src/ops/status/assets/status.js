// Updates the figures in place, so that the page does not scroll back to the top.
;(() => {
  const refreshMs = 5_000
  const statusMessage = () => document.querySelector('[data-message]')

  async function refresh() {
    if (document.hidden) return
    try {
      const response = await fetch(location.href, {
        cache: 'no-store',
        signal: AbortSignal.timeout(refreshMs),
      })
      const next = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main')
      if (!response.ok || !next) throw new Error('no figures')
      const before = document.querySelector('#numbers')
      const hasFocus = before?.contains(document.activeElement)
      // Keep the table open, and its focus.
      next.querySelector('#numbers')?.toggleAttribute('open', before?.open === true)
      document.querySelector('main').replaceChildren(...next.childNodes)
      if (hasFocus) document.querySelector('#numbers > summary')?.focus()
    } catch {
      statusMessage().textContent = 'The gateway is not responding. Showing the last known values.'
      statusMessage().hidden = false
    }
  }

  setInterval(refresh, refreshMs)
  document.addEventListener('visibilitychange', refresh)
})()
