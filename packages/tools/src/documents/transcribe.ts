import { detectAudioType } from './sound-format.ts';
import {
  callSpeechService,
  readResponseText,
  type SpeechDeps,
  type SpeechService,
} from './speech-service.ts';

export type TranscriptionSettings = SpeechService;

/**
 * The transcript, or the reason why there is none: `reason` is for everyone, `detail` for the owner
 * and the log.
 */
export type Transcript =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'refused'; readonly reason: string; readonly detail: string };

const TIMEOUT_MS = 120_000;

/**
 * Requests the transcript of a recording from the configured service. The request contains nothing
 * chosen by the sender except the sound itself: the file name is derived from the sound's format.
 */
export async function transcribe(
  bytes: Uint8Array<ArrayBuffer>,
  settings: TranscriptionSettings,
  deps: Omit<SpeechDeps, 'timeoutMs'> & Partial<SpeechDeps>,
): Promise<Transcript> {
  const type = detectAudioType(bytes);
  if (type === null) {
    const reason = 'its recording format is not supported';
    return { kind: 'refused', reason, detail: reason };
  }
  const form = new FormData();
  form.set('model', settings.model);
  form.set('response_format', 'json');
  form.set('file', new Blob([bytes], { type: type.mimeType }), `speech.${type.extension}`);
  // The recording is sent as bytes rather than as a stream, because Node's fetch does not report a
  // streamed form that fails at its end.
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? '';
  const request = {
    ...{ path: 'audio/transcriptions', setting: 'media.transcription', contentType },
    ...{ body: await encoded.arrayBuffer(), read: readTranscript, wanted: 'a transcript' },
  };
  const answer = await callSpeechService(request, settings, { timeoutMs: TIMEOUT_MS, ...deps });
  if (answer.kind === 'done') return { kind: 'text', text: answer.result };
  return { kind: 'refused', reason: 'my speech service did not answer', detail: answer.detail };
}

async function readTranscript(response: Response): Promise<string | null> {
  const body = await readResponseText(response);
  if (body === null) return null;
  try {
    const answer: unknown = JSON.parse(body);
    if (typeof answer !== 'object' || answer === null || !('text' in answer)) return null;
    return typeof answer.text === 'string' ? answer.text.trim() : null;
  } catch {
    return null; // The body is not JSON: reported to the owner as a response without a transcript.
  }
}
