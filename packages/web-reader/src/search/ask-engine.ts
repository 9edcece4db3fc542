import { reasonOf } from '@parley/contracts';
import { WebError } from '../web-error.ts';
import type { EngineDeps } from './search-engine.ts';

/** One question to a search engine. */
export interface EngineRequest {
  /** For people, such as `Brave Search`. */
  readonly name: string;
  /** Where its settings are. */
  readonly settings: string;
  readonly url: URL;
  /** Keys go here and never into the address. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a status means to this engine, where it is something of its own. */
  readonly meaning?: Readonly<Record<number, string>>;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2_000_000;

/**
 * Asks an engine and gives its JSON. Redirects are not followed: they would carry the key elsewhere.
 * Throws WebError in words that say what to mend and never hold the key or what the engine sent.
 */
export async function askEngine(
  { name, settings, url, headers, meaning }: EngineRequest,
  { fetch, timeoutMs = TIMEOUT_MS }: EngineDeps,
  signal: AbortSignal,
): Promise<unknown> {
  const slow = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual',
      signal: AbortSignal.any([signal, slow]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw saidNo(name, settings, response, meaning);
    }
    return parsed(await textOf(response, name), name, settings);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof WebError) throw error;
    const why = slow.aborted
      ? `did not answer within ${timeoutMs / 1_000} s`
      : `cannot be reached (${causeOf(error)})`;
    throw new WebError(
      'web-search',
      `${name} ${why}; its address and key are in ${settings}.`,
      error,
    );
  }
}

async function textOf({ body }: Response, name: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_BYTES) throw new WebError('web-search', `The answer of ${name} is too large.`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string, name: string, settings: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `${name} answered with something else than results; check ${settings}.`;
    throw new WebError('web-search', message, cause);
  }
}

function saidNo(
  name: string,
  settings: string,
  { status, headers }: Response,
  meaning: EngineRequest['meaning'] = {},
): WebError {
  const usual: Readonly<Record<number, string>> = {
    401: `it refused the key; check ${settings}`,
    403: `it refused the key; check ${settings}`,
    404: `there is no search at this address; check ${settings}`,
    429: `it is asked too often${waitOf(headers)}`,
  };
  const why =
    meaning[status] ??
    usual[status] ??
    (status >= 500 ? 'it has a problem; try later' : `check ${settings}`);
  return new WebError('web-search', `${name} answered with status ${status}: ${why}.`);
}

function waitOf(headers: Headers): string {
  const seconds = Number(headers.get('retry-after'));
  return seconds > 0 ? `; try again in ${seconds} s` : '; try again later';
}

/** `fetch` says no more than "fetch failed"; why is in its cause. */
function causeOf(thrown: unknown): string {
  const deeper = thrown instanceof Error ? thrown.cause : undefined;
  return reasonOf(deeper ?? thrown) || 'the connection failed';
}
