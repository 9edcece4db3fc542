import { setImmediate } from 'node:timers/promises';
import { type InboundMessage, type Logger, type ReplyRoute, reasonOf } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import type { AgentFile } from '@parley/store';
import type { SpeechResult } from '@parley/tools/documents';
import { type PostDeps, postMessage } from '../post-message.ts';
import type { Turn } from '../turn/turn.ts';

/** The settings for spoken answers (section `media.speech`). */
export interface TurnSpeechSettings {
  readonly when: 'voice' | 'never' | 'always';
  /** The maximum length of a text that is spoken, in characters. */
  readonly maxCharacters: number;
  speak(text: string, signal: AbortSignal): Promise<SpeechResult>;
}

export interface VoiceDeps extends PostDeps {
  readonly media: { readonly speech?: TurnSpeechSettings | undefined };
  readonly log: Logger;
}

const NOT_SPOKEN = 'an answer was not spoken; its text was sent';

/**
 * Sends an answer as a voice note in addition to its text, which neither waits for the note nor is
 * lost if the note fails (F10). The note is stored once per turn, like a file from `send_file`.
 */
export async function answerByVoice(
  deps: VoiceDeps,
  turn: Turn,
  answer: string,
  signal: AbortSignal,
): Promise<void> {
  const { media, log } = deps;
  const { turnId, route } = turn;
  if (media.speech === undefined || !isAnswerSpoken(media.speech.when, turn)) return;
  try {
    const file = await speakAnswer(media.speech, answer, route, signal);
    if ('bytes' in file) {
      const message = { route, markdown: '', isMarked: false, file };
      await postMessage(deps, { key: `${turnId}.voice`, ...message });
    } else if (file.detail !== null) {
      log.warn({ turn: turnId, reason: file.detail }, NOT_SPOKEN);
    }
  } catch (error) {
    log.warn({ turn: turnId, reason: reasonOf(error) }, NOT_SPOKEN);
  }
}

/** The fields of a turn that decide whether its answer is spoken. */
interface VoiceAnswerTurn {
  readonly messages: readonly {
    readonly message: Pick<InboundMessage, 'attachments' | 'trigger'>;
    readonly route: Pick<ReplyRoute, 'voice'>;
  }[];
}

/** Whether an answer is also spoken: the chat supports voice notes, and a person waits for it. */
export function isAnswerSpoken(
  when: TurnSpeechSettings['when'],
  { messages }: VoiceAnswerTurn,
): boolean {
  const isShown = messages.at(-1)?.route.voice === true;
  if (!isShown || messages.some(({ message }) => message.trigger !== undefined)) return false;
  if (when !== 'voice') return when === 'always';
  const files = messages.flatMap(({ message }) => message.attachments ?? []);
  return files.some(({ kind }) => kind === 'voice');
}

/**
 * Renders Markdown as a voice note for a route. If that fails, returns the reason for the log; null
 * if there is nothing to speak.
 */
export async function speakAnswer(
  { maxCharacters, speak }: TurnSpeechSettings,
  markdown: string,
  { maxFileBytes = 0 }: Pick<ReplyRoute, 'maxFileBytes'>,
  signal: AbortSignal,
): Promise<AgentFile | { readonly detail: string | null }> {
  const text = await toSpokenText(markdown, maxCharacters);
  if (text === '') return { detail: null };
  const sound = await speak(text, signal);
  if (sound.kind === 'failed') return sound;
  const { bytes, name, mimeType } = sound;
  if (bytes.byteLength <= maxFileBytes) return { kind: 'voice', name, mimeType, bytes };
  return { detail: 'the recording is larger than a file may be; lower media.speech.maxCharacters' };
}

const PLAIN = { dialect: 'plain', maxLength: 1_000_000, unit: 'utf16' } as const;

/**
 * The text to speak: Markdown without its markup, up to the last sentence that fits within the
 * limit.
 */
async function toSpokenText(markdown: string, most: number): Promise<string> {
  const bodies = await renderInSteps(markdown, PLAIN, setImmediate);
  const text = bodies
    .map(({ plain }) => plain)
    .join('\n\n')
    .trim();
  if (text.length <= most) return text;
  const kept = text.slice(0, most).toWellFormed();
  const sentences = /^.*(?:[.!?…](?=\s)|[。！？\n])/su.exec(kept)?.[0].trim() ?? '';
  return sentences === '' ? kept : sentences;
}
