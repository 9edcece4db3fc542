import { detectAudioType } from './sound-format.ts';
import {
  callSpeechService,
  readResponseBytes,
  type SpeechDeps,
  type SpeechService,
} from './speech-service.ts';

/** The settings in `media.speech` that configure the service. */
export interface SpeechSettings extends SpeechService {
  readonly voice: string;
  /** The format requested from the service; its response is validated. */
  readonly format: 'opus' | 'mp3' | 'flac' | 'wav';
}

/** A recording, or the reason why there is none, for the owner and the log. */
export type SpeechResult =
  | {
      readonly kind: 'spoken';
      readonly bytes: Uint8Array;
      readonly mimeType: string;
      readonly name: string;
    }
  | { readonly kind: 'failed'; readonly detail: string };

/** The time limit, which is short because a person is waiting for the result. */
const TIMEOUT_MS = 30_000;
/** The size of an hour of speech in Opus. */
const MAX_BYTES = 20_000_000;

/** Requests a spoken version of a text from the configured service. */
export async function synthesizeSpeech(
  text: string,
  settings: SpeechSettings,
  deps: Omit<SpeechDeps, 'timeoutMs'> & Partial<SpeechDeps>,
): Promise<SpeechResult> {
  const { model, voice, format } = settings;
  const request = {
    ...{ path: 'audio/speech', setting: 'media.speech', contentType: 'application/json' },
    body: JSON.stringify({ model, voice, input: text, response_format: format }),
    ...{ read: readSpeechResponse, wanted: 'a recording in a known format' },
  };
  const answer = await callSpeechService(request, settings, { timeoutMs: TIMEOUT_MS, ...deps });
  return answer.kind === 'done' ? { kind: 'spoken', ...answer.result } : answer;
}

async function readSpeechResponse(response: Response) {
  const bytes = await readResponseBytes(response, MAX_BYTES);
  const type = bytes === null ? null : detectAudioType(bytes);
  if (bytes === null || type === null) return null;
  return { bytes, mimeType: type.mimeType, name: `voice.${type.extension}` };
}
