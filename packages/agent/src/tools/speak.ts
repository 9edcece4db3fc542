import { z } from 'zod';
import type { MediaDeps } from '../media/read-attachment.ts';
import { speakAnswer } from '../media/voice-answer.ts';
import { type PostDeps, postMessage } from '../post-message.ts';
import { createFailedOutcome, defineTool, type Tool, type ToolOutcome } from './tool.ts';

export const SPEAK = 'speak';

export interface SpeakDeps extends Omit<PostDeps, 'clock'> {
  readonly media: Pick<MediaDeps, 'speech'>;
}

const MAX_PER_TURN = 5;
/** Enough time for two attempts to reach the service, in ms. */
const SPEAK_MS = 70_000;

/**
 * Speaks a text as a voice note (F10). The tool is offered if a speech service is configured and
 * the chat supports voice notes.
 */
export function createSpeakTool({ media, ...deps }: SpeakDeps): Tool {
  return defineTool({
    name: SPEAK,
    summary: 'Sends a text to this chat as a voice note.',
    hint: 'When the person wants to listen. It arrives immediately, before your answer.',
    tier: 'middleware',
    group: 'messages',
    effect: 'external',
    actsOnce: true,
    audience: 'everyone',
    approval: 'never',
    limits: { ms: SPEAK_MS },
    input: z.strictObject({ text: z.string().trim().min(1).max(4_000) }),
    async run({ text }, call): Promise<ToolOutcome> {
      const { callId, clock, log, route, signal, turnId } = call;
      if (media.speech === undefined || route?.voice !== true) {
        return createFailedOutcome('Not said: voice notes cannot be sent here.');
      }
      const file = await speakAnswer(media.speech, text, route, signal);
      if (!('bytes' in file)) {
        log.warn({ turn: turnId, reason: file.detail }, 'a text was not spoken');
        return createFailedOutcome(
          'Not said: the speech service did not answer. Write it instead.',
        );
      }
      const turn = { id: turnId, most: MAX_PER_TURN };
      const message = { route, markdown: '', isMarked: false, file };
      const posted = await postMessage({ ...deps, clock }, { key: callId, turn, ...message });
      if ('chat' in posted) return { text: 'It is on its way to this chat as a voice note.' };
      return createFailedOutcome(
        'Not said: this turn was stopped, it has sent its maximum number of voice notes, or a person has taken over the chat.',
      );
    },
  });
}
