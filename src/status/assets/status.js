// Updates the figures in place, so that the page does not scroll back to the top.
;(() => {
  const refreshMs = 5_000
  const said = () => document.querySelector('[data-said]')

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
      // What somebody has opened stays open, and keeps the focus.
      next.querySelector('#numbers')?.toggleAttribute('open', before?.open === true)
      document.querySelector('main').replaceChildren(...next.childNodes)
      if (hasFocus) document.querySelector('#numbers > summary')?.focus()
    } catch {
      said().textContent = 'The gateway does not answer. These are the last figures.'
      said().hidden = false
    }
  }

  setInterval(refresh, refreshMs)
  document.addEventListener('visibilitychange', refresh)
})()
