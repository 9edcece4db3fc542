import { audioTypeOf } from './sound-format.ts';
import {
  askSpeechService,
  readResponseText,
  type SpeechDeps,
  type SpeechService,
} from './speech-service.ts';

/** The settings section `media.transcription`. */
export type TranscriptionSettings = SpeechService;

/**
 * The spoken text, or why it is unknown: `reason` for everyone, `detail` for the owner and the log.
 */
export type Transcript =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail: string };

const TIMEOUT_MS = 120_000;

/**
 * Asks the configured service what is said in a recording. Never rejects. The request contains
 * nothing that the sender chose but the sound itself: the file is named by its format.
 */
export async function transcribe(
  bytes: Uint8Array<ArrayBuffer>,
  settings: TranscriptionSettings,
  deps: Omit<SpeechDeps, 'timeoutMs'> & Partial<SpeechDeps>,
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
  // As bytes rather than a stream, because Node's fetch does not report when a streamed form fails
  // at its end.
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  const request = {
    ...{ path: 'audio/transcriptions', setting: 'media.transcription', contentType },
    ...{ body: await encoded.arrayBuffer(), read: textIn, wanted: 'a transcript' },
  };
  const answer = await askSpeechService(request, settings, { timeoutMs: TIMEOUT_MS, ...deps });
  if (answer.kind === 'done') return { kind: 'text', text: answer.result };
  return { kind: 'refused', reason: 'my speech service did not answer', detail: answer.detail };
}

async function textIn(response: Response): Promise<string | null> {
  const body = await readResponseText(response);
  if (body === null) return null;
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer !== 'object' || answer === null || !('text' in answer)) return null;
    return typeof answer.text === 'string' ? answer.text.trim() : null;
  } catch {
    return null; // Not JSON: reported to the owner as an answer without a transcript.
  }
}
