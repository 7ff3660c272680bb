// What the script adds to every form of the portal. All forms work without it.
;(() => {
  const againMs = 10_000

  /** Sends a form only once: a second press would lose the first answer, and keys that are shown only there. */
  function sendOnce() {
    const sent = new Set()
    addEventListener('submit', (event) => {
      const form = event.target
      if (event.defaultPrevented || form.method !== 'post') return
      if (sent.has(form)) return event.preventDefault()
      sent.add(form)
      const ready = event.submitter && showBusy(event.submitter)
      // If no answer came the form can be sent again.
      setTimeout(() => {
        sent.delete(form)
        ready?.()
      }, againMs)
    })
    addEventListener('pageshow', () => sent.clear())
  }

  /** @returns undoes it */
  function showBusy(button) {
    const { textContent, dataset } = button
    if (dataset.busy === undefined) return undefined
    button.textContent = dataset.busy
    return () => {
      button.textContent = textContent
    }
  }

  /** Focuses the page's message, so that it is seen and read out, unless something has autofocus. */
  function goToAnswer() {
    if (document.querySelector('main [autofocus]')) return
    const place = document.querySelector('main > .notice, main [role=alert]:not(table)')
    if (!place) return
    place.tabIndex = -1
    place.focus()
  }

  /** Gives the answer to a form the URL of the form's page: back and reload then show that page, and send nothing. */
  function takePlaceOfPage() {
    const { home } = document.documentElement.dataset
    if (home !== undefined) history.replaceState(null, '', home + location.hash)
  }

  /** Focuses the first field of an opened question, so that it can be filled in at once. */
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
