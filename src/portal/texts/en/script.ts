/** What the script says; placeholders are in braces. */
export const script = {
  copy: 'Copy',
  copied: 'Copied',
  shownForOneMinute: 'Shown for one minute.',
  hiddenAgain: 'Hidden again.',
  noResponse: 'The gateway is not responding. Try again.',
  passkeysElsewhere: 'Passkeys work only at {origin}: open the portal there.',
  noPasskeySupport: 'This browser does not support passkeys. Update it, or use another way.',
  passkeyExists: 'This device has a passkey for this account already.',
  noPasskeyUsed: 'No passkey was used: it was cancelled, took too long, or there is none here. Try again.',
}
