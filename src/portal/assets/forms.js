// Enhances every form of the portal. All forms work without it.
;(() => {
  const resubmitAfterMs = 10_000

  /** Submits a form only once: a second submit would lose the first response, and keys that are shown only there. */
  function sendOnce() {
    const sent = new Set()
    addEventListener('submit', (event) => {
      const form = event.target
      if (event.defaultPrevented || form.method !== 'post') return
      if (sent.has(form)) return event.preventDefault()
      sent.add(form)
      const undoBusy = event.submitter && showBusy(event.submitter)
      // Without a response the form can be submitted again.
      setTimeout(() => {
        sent.delete(form)
        undoBusy?.()
      }, resubmitAfterMs)
    })
    addEventListener('pageshow', () => sent.clear())
  }

  /** @returns a function that restores the button */
  function showBusy(button) {
    const { textContent, dataset } = button
    if (dataset.busy === undefined) return undefined
    button.textContent = dataset.busy
    return () => {
      button.textContent = textContent
    }
  }

  /** Focuses the page's message, so that it is visible and announced, unless something has autofocus. */
  function focusMessage() {
    if (document.querySelector('main [autofocus]')) return
    const message = document.querySelector('main > .notice, main [role=alert]:not(table)')
    if (!message) return
    message.tabIndex = -1
    message.focus()
  }

  /** Gives the response to a form the URL of the form's page: back and reload then show that page, and submit nothing. */
  function restoreFormUrl() {
    const { formPage } = document.documentElement.dataset
    if (formPage !== undefined) history.replaceState(null, '', formPage + location.hash)
  }

  /** Focuses the first field of a form that was opened. */
  function focusOpenedForm() {
    const focusField = ({ target }) => {
      if (!target.open || document.activeElement !== target.querySelector('summary')) return
      target.querySelector('.field :is(input:checked, input:not([type=radio]))')?.focus()
    }
    addEventListener('toggle', focusField, true)
  }

  /** Ticks all accounts of a page, or none. */
  function enableTickAll() {
    const label = document.querySelector('[data-tick-all]')
    if (!label) return
    const all = label.querySelector('input')
    const boxes = [...label.closest('form').querySelectorAll('tbody input[type=checkbox]')]
    const showState = () => {
      const count = boxes.filter((box) => box.checked).length
      all.checked = count > 0 && count === boxes.length
      all.indeterminate = count > 0 && count < boxes.length
    }
    label.hidden = boxes.length < 2
    all.addEventListener('change', () => {
      for (const box of boxes) box.checked = all.checked
    })
    for (const box of boxes) box.addEventListener('change', showState)
    showState()
  }

  sendOnce()
  enableTickAll()
  focusOpenedForm()
  restoreFormUrl()
  focusMessage()
})()
