/**
 * The fields of an answer by which some proxy, or a module of one, takes another path or a file in place of it: nginx,
 * Apache and lighttpd (X-Sendfile), Caddy where it is told to, IIS. @param path of the proxy, or of its file system
 */
export function leadingFields(path: string): Readonly<Record<string, string>> {
  return {
    'X-Accel-Redirect': path,
    'X-Sendfile': path,
    'X-Sendfile2': `${path} 0-`,
    'X-LIGHTTPD-send-file': path,
    'X-LIGHTTPD-send-tempfile': path,
    'X-Proxysendfile': path,
    'X-Reproxy-URL': path,
    'X-Rewrite-URL': path,
    'X-Original-URL': path,
  }
}
