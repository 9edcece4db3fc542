import { ParleyError } from '@parley/contracts';

/**
 * `web-refused`: an address that is never asked. `web-unreachable`: nobody answered. `web-slow`: the
 * time was up. `web-status`: the server said no. `web-redirects`: too many. `web-large`: too big.
 * `web-format`: nothing that can be read as text. `web-search`: a search engine gave no results.
 */
export type WebErrorCode =
  | 'web-refused'
  | 'web-unreachable'
  | 'web-slow'
  | 'web-status'
  | 'web-redirects'
  | 'web-large'
  | 'web-format'
  | 'web-search';

const RETRYABLE: ReadonlySet<WebErrorCode> = new Set(['web-unreachable', 'web-slow']);

/** Why there is no page or no result, in words for the model and for people. */
export class WebError extends ParleyError {
  constructor(code: WebErrorCode, message: string, cause?: unknown) {
    super({ code, message, retryable: RETRYABLE.has(code), cause });
  }
}
