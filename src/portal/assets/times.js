// Shows times in the time zone of the viewer, with UTC on hover. Without this script they are in UTC.
;(() => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone
  // The language of the page, which is written in British English.
  const locale = document.documentElement.lang === 'en' ? 'en-GB' : document.documentElement.lang
  // The form of exact times, with the name of the zone, such as 2026-11-21 15:03:22 CET.
  const exact = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })
  const named = new Intl.DateTimeFormat(locale, { timeZoneName: 'short' })
  const dateOf = (at, timeZone) => at.toLocaleDateString(locale, { dateStyle: 'medium', timeZone })

  function show(element) {
    const at = new Date(element.dateTime)
    if (Number.isNaN(at.getTime())) return
    const name = named.formatToParts(at).find(({ type }) => type === 'timeZoneName').value
    const local = `${exact.format(at)} ${name}`
    const utc = `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`
    const isExact = element.textContent === utc
    if (isExact) element.textContent = local
    else if (element.textContent === dateOf(at, 'UTC')) element.textContent = dateOf(at, zone)
    element.title = isExact ? utc : `${local}, ${utc}`
  }

  if (zone !== 'UTC') for (const element of document.querySelectorAll('time[datetime]')) show(element)
})()
