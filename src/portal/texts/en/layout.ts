export const layout = {
  skipToContent: 'Skip to content',
  navigation: 'Portal',
  administration: 'Administration',
  sections: {
    '/integration': 'Integration',
    '/usage': 'Usage',
    '/sessions': 'Sessions',
    '/profile': 'Profile',
    '/accounts': 'Accounts',
    '/audit': 'Audit',
  },
  signOut: 'Sign out',
}
