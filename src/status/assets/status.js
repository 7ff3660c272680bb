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
      document.querySelector('main').replaceChildren(...next.childNodes)
    } catch {
      said().textContent = 'The gateway does not answer. These are the last figures.'
      said().hidden = false
    }
  }

  setInterval(refresh, refreshMs)
  document.addEventListener('visibilitychange', refresh)
})()
