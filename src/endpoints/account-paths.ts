/** Where tokens are issued, refreshed and revoked. */
export const accountPaths = {
  accessToken: '/api/v1/accounts/access-token',
  refreshToken: '/api/v1/accounts/refresh-token',
  revokeToken: '/api/v1/accounts/revoke-token',
} as const
