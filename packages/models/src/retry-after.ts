/** Longest wait that is believed, in ms; a server that says more is treated as saying nothing useful. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * When a rate-limited provider wants to be asked again, in ms from `now`: `retry-after-ms`, or
 * `retry-after` in seconds or as an HTTP date. Null when it does not say. Header names are lower case.
 */
export function retryAfterMs(
  headers: Readonly<Record<string, string>>,
  now: number,
): number | null {
  const exact = number(headers['retry-after-ms']);
  if (exact !== null) return within(exact);
  const said = headers['retry-after'];
  const seconds = number(said);
  if (seconds !== null) return within(seconds * 1000);
  const date = said === undefined ? Number.NaN : Date.parse(said);
  return Number.isNaN(date) ? null : within(date - now);
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null;
}

function within(ms: number): number | null {
  return ms > LONGEST_WAIT_MS ? null : Math.max(0, Math.ceil(ms));
}
