/**
 * Where a platform calls this gateway, as a sentence without a full stop: the whole address if the
 * public one is known.
 */
export function formatWebhookAddress(path: string, publicUrl: string | undefined): string {
  if (publicUrl === undefined)
    return `${path} below the public https address of this gateway, which is not known: set http.publicUrl`;
  return `${publicUrl.replace(/\/+$/, '')}${path}`;
}

/** The path at which the platform of a hosted account calls this gateway. */
export function toWebhookPath(channel: string, account: string): string {
  return `/channels/${channel}/${account}/`;
}
