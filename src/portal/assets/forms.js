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
      const ready = event.submitter && showBusy(event.submitter)
      // Where no answer came, it can be sent again.
      setTimeout(() => {
        sent.delete(form)
        ready?.()
      }, againMs)
    })
    addEventListener('pageshow', () => sent.clear())
  }

  /** @returns what takes it back */
  function showBusy(button) {
    const { textContent, dataset } = button
    if (dataset.busy === undefined) return undefined
    button.textContent = dataset.busy
    return () => {
      button.textContent = textContent
    }
  }

  /** What the page has to say is gone to, so that it is seen and read out; the field or message itself may ask for it. */
  function goToAnswer() {
    if (document.querySelector('main [autofocus]')) return
    const place = document.querySelector('main > .notice, main [role=alert]:not(table)')
    if (!place) return
    place.tabIndex = -1
    place.focus()
  }

  /** To the browser the answer to a form is the page of the form: back and reload show that anew, and send nothing. */
  function takePlaceOfPage() {
    const { home } = document.documentElement.dataset
    if (home !== undefined) history.replaceState(null, '', home + location.hash)
  }

  /** A question that was opened is answered at once: its password, or whatever it asks for, can be typed. */
  function goToOpened() {
    const go = ({ target }) => {
      if (!target.open || document.activeElement !== target.querySelector('summary')) return
      target.querySelector('.field :is(input:checked, input:not([type=radio]))')?.focus()
    }
    addEventListener('toggle', go, true)
  }

  sendOnce()
  goToOpened()
  takePlaceOfPage()
  goToAnswer()
})()
