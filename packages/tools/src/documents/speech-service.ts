import { describeFetchFailure } from '@parley/core';

/** A service that implements OpenAI's audio protocol: part of the `media` settings section. */
export interface SpeechService {
  /** The base URL, which usually ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

export interface SpeechDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** The time limit of one attempt, in ms. */
  readonly timeoutMs: number;
}

export interface SpeechRequest<Result> {
  /** The path relative to the base URL. */
  readonly path: string;
  /** The settings section that configures the service, as shown to people. */
  readonly setting: string;
  readonly body: ArrayBuffer | string;
  readonly contentType: string;
  /**
   * Extracts the result from a successful response; null when it does not contain what `wanted`
   * describes.
   */
  readonly read: (response: Response) => Promise<Result | null>;
  readonly wanted: string;
}

/** `detail`: what went wrong and what to do, for the owner and the log. */
export type SpeechResponse<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'failed'; readonly detail: string };

/** A lost connection or an overload is retried once; a refusal is final. */
const TRIES = 2;
const MAX_DETAIL = 200;

/** Calls a speech service. */
export async function callSpeechService<Result>(
  request: SpeechRequest<Result>,
  service: SpeechService,
  deps: SpeechDeps,
): Promise<SpeechResponse<Result>> {
  let answer = await requestSpeech(request, service, deps);
  for (let tries = 1; tries < TRIES && answer.kind === 'again'; tries += 1) {
    if (deps.signal.aborted) break;
    answer = await requestSpeech(request, service, deps);
  }
  return answer.kind === 'done' ? answer : { kind: 'failed', detail: answer.detail };
}

/** The outcome of one attempt: the result, or the error and whether a retry may help. */
type RequestAttempt<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'again' | 'failed'; readonly detail: string };

async function requestSpeech<Result>(
  { path, setting, body, contentType, read, wanted }: SpeechRequest<Result>,
  { baseUrl, apiKey }: SpeechService,
  { fetch, signal, timeoutMs }: SpeechDeps,
): Promise<RequestAttempt<Result>> {
  const url = `${baseUrl.replace(/\/+$/, '')}/${path}`;
  const where = `the speech service at ${new URL(url).host}`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': contentType,
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    if (!response.ok) {
      const kind = response.status >= 500 || response.status === 429 ? 'again' : 'failed';
      const said = (await readResponseText(response)) ?? '';
      return { kind, detail: explainStatus(where, setting, response.status, said) };
    }
    const result = await read(response);
    if (result !== null) return { kind: 'done', result };
    const detail = `${where} answered without ${wanted}; check ${setting}.baseUrl`;
    return { kind: 'failed', detail };
  } catch (thrown) {
    return {
      kind: 'again',
      detail: `${where} cannot be reached (${describeFetchFailure(thrown)})`,
    };
  }
}

function explainStatus(where: string, setting: string, status: number, body: string): string {
  if (status === 401 || status === 403) {
    return `${where} refused the key (status ${status}); check ${setting}.apiKey`;
  }
  if (status === 404) {
    return `${where} found neither the address nor the model (status 404); check ${setting}`;
  }
  return `${where} answered with status ${status}: ${body.slice(0, MAX_DETAIL).toWellFormed()}`;
}

/** The maximum size of a response, in bytes: ten times the transcript of an hour of speech. */
const MAX_TEXT_BYTES = 1_000_000;

/** Returns the body as text; null if it is longer than the limit. */
export async function readResponseText(response: Response): Promise<string | null> {
  const bytes = await readResponseBytes(response, MAX_TEXT_BYTES);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

export async function readResponseBytes(
  { body }: Response,
  most: number,
): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > most) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
