/**
 * Headers of everything the gateway serves: the page loads from its own host only, runs no script
 * written into it, is shown in no frame, and tells no other site where it was. So hostile text in an
 * answer could do nothing even if the printer of Markdown let it through.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'self'",
    // Pictures that need the session are fetched with it, and shown from memory.
    "img-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
