/**
 * Formats the address at which a platform calls this gateway, without a final period. It is a
 * complete address if the public URL is known.
 */
export function formatWebhookAddress(path: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined)
    return `${path} under this gateway's public HTTPS address, which is not known: set http.publicUrl`;
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}

/** The path at which the platform of a hosted account calls this gateway. */
export function toWebhookPath(channel: string, account: string): string {
  return `/channels/${channel}/${account}/`;
}
