import { failureOf } from '@parley/core';
import { audioTypeOf } from './detect-format.ts';

/** A speech service that speaks OpenAI's protocol: the settings section `media.transcription`. */
export interface TranscriptionSettings {
  /** Usually ends in `/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
}

/** What was said, or why it is not known: `reason` for everyone, `detail` for the owner and the log. */
export type Transcript =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail: string };

/** How a speech service is reached. */
export interface TranscriptionDeps {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  /** Longest time for one try, in ms; two minutes when absent. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;
/** A lost connection or an overload is worth a second try; the first answer that says no is final. */
const TRIES = 2;
const LONGEST_DETAIL = 200;

/**
 * Asks the configured service what is said in a recording. Never rejects. Nothing that the sender
 * chose goes into the request but the sound itself: the file is named by what it is.
 */
export async function transcribe(
  bytes: Uint8Array<ArrayBuffer>,
  settings: TranscriptionSettings,
  deps: TranscriptionDeps,
): Promise<Transcript> {
  const type = audioTypeOf(bytes);
  if (type === null) {
    const reason = 'it is no recording that I know';
    return { kind: 'refused', reason, detail: reason };
  }
  const form = new FormData();
  form.set('model', settings.model);
  form.set('response_format', 'json');
  form.set('file', new Blob([bytes], { type: type.mimeType }), `speech.${type.extension}`);
  // As bytes and not as a stream: Node's fetch lets the end of a streamed form fail unseen.
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  const body = { bytes: await encoded.arrayBuffer(), contentType };
  let answer = await ask(body, settings, deps);
  for (let tries = 1; tries < TRIES && answer.kind === 'again'; tries += 1) {
    if (deps.signal.aborted) break;
    answer = await ask(body, settings, deps);
  }
  if (answer.kind === 'text') return answer;
  return { kind: 'refused', reason: 'my speech service did not answer', detail: answer.detail };
}

/** What became of one try: the transcript, or what went wrong and whether it may go better the next time. */
type Answer =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'again' | 'final'; readonly detail: string };

interface Body {
  readonly bytes: ArrayBuffer;
  readonly contentType: string;
}

async function ask(
  { bytes, contentType }: Body,
  { baseUrl, apiKey }: TranscriptionSettings,
  { fetch, signal, timeoutMs = TIMEOUT_MS }: TranscriptionDeps,
): Promise<Answer> {
  const url = `${baseUrl.replace(/\/+$/, '')}/audio/transcriptions`;
  const where = `the speech service at ${new URL(url).host}`;
  try {
    const response = await fetch(url, {
      method: 'POST',
      body: bytes,
      headers: {
        'content-type': contentType,
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    const body = await response.text();
    if (!response.ok) {
      const kind = response.status >= 500 || response.status === 429 ? 'again' : 'final';
      return { kind, detail: explain(where, response.status, body) };
    }
    const text = textIn(body);
    if (text !== null) return { kind: 'text', text };
    const detail = `${where} answered without a transcript; check media.transcription.baseUrl`;
    return { kind: 'final', detail };
  } catch (thrown) {
    return { kind: 'again', detail: `${where} cannot be reached (${failureOf(thrown)})` };
  }
}

function explain(where: string, status: number, body: string): string {
  if (status === 401 || status === 403) {
    return `${where} refused the key (status ${status}); check media.transcription.apiKey`;
  }
  if (status === 404) {
    return `${where} knows neither the address nor the model (status 404); check media.transcription`;
  }
  return `${where} answered with status ${status}: ${body.slice(0, LONGEST_DETAIL).toWellFormed()}`;
}

function textIn(body: string): string | null {
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer !== 'object' || answer === null || !('text' in answer)) return null;
    return typeof answer.text === 'string' ? answer.text.trim() : null;
  } catch {
    return null; // Not JSON: reported to the owner as an answer without a transcript.
  }
}
