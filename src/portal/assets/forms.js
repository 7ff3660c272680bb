// What a script adds to every form of the portal. Without it every form works.
;(() => {
  const againMs = 10_000

  /** Pressed twice, the answer to the first would be lost, and with it keys that are shown this once. */
  function sendOnce() {
    const sent = new Set()
    addEventListener('submit', (event) => {
      const form = event.target
      if (event.defaultPrevented || form.method !== 'post') return
      if (sent.has(form)) return event.preventDefault()
      sent.add(form)
      // Where no answer came, it can be sent again.
      setTimeout(() => sent.delete(form), againMs)
    })
    addEventListener('pageshow', () => sent.clear())
  }

  sendOnce()
})()
