import type { SpeechResult } from '@parley/tools/documents';
import { afterEach, describe, expect, it } from 'vitest';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE, type SentFile, type WriteMessageOptions } from '../testing/write-message.ts';
import { createSpeakTool } from '../tools/speak.ts';
import { isAnswerSpoken, speakAnswer, type TurnSpeechSettings } from './voice-answer.ts';

const VOICE: SentFile = { kind: 'voice', bytes: Uint8Array.from(Buffer.from('OggS and sound')) };
const SOUND: SpeechResult = {
  ...{ kind: 'spoken', name: 'voice.ogg', mimeType: 'audio/ogg' },
  bytes: Uint8Array.of(1, 2, 3),
};
const TO_VOICE: WriteMessageOptions = { voice: true, maxFileBytes: 1_000 };

let scene: TurnScene;
afterEach(() => scene?.close());

/**
 * Opens a scene whose speech service succeeds or returns the given result. Returns what the service
 * was asked to speak.
 */
async function open(sound: SpeechResult | Error = SOUND, more: Partial<TurnSpeechSettings> = {}) {
  const said: string[] = [];
  const speak = async (text: string) => {
    said.push(text);
    if (sound instanceof Error) throw sound;
    return sound;
  };
  const speech: TurnSpeechSettings = { when: 'voice', maxCharacters: 100, speak, ...more };
  const stored = {
    get outbox() {
      return scene.store.outbox;
    },
  };
  const tool = createSpeakTool({ store: stored, deliver: async () => {}, media: { speech } });
  const transcription = { baseUrl: 'http://speech.test/v1', model: 'ears' };
  const fetch = async () => Response.json({ text: 'good morning' });
  scene = await openTurnScene({ speech, transcription, fetch }, { tools: [tool] });
  return said;
}
async function answer(writing: WriteMessageOptions, say: string): Promise<void> {
  scene.model.next({ say });
  await scene.write('', writing);
  await scene.answerNext();
}
const sent = async () =>
  (await scene.store.outbox.recent({ ...PLACE, chatId: 'c' }, 9)).map(({ part }) =>
    part.file === undefined ? part.body.plain : `${part.file.kind} ${part.file.name}`,
  );

describe('an answer to a voice message', () => {
  it('[F10] is also spoken, without its markup, after its text', async () => {
    const said = await open();
    await answer({ ...TO_VOICE, files: [VOICE] }, '**Good** [morning](https://a.example)!');
    expect(said).toEqual(['Good morning (https://a.example)!']);
    expect(await sent()).toEqual(['Good morning (https://a.example)!', 'voice voice.ogg']);
  });

  it.each<[string, SpeechResult | Error, string]>([
    ['fails', { kind: 'failed', detail: 'check media.speech.apiKey' }, 'media.speech.apiKey'],
    ['breaks', new Error('a defect'), 'a defect'],
    ['sends too much', { ...SOUND, bytes: new Uint8Array(1_001) }, 'lower media.speech.maxCh'],
  ])(
    '[F10] is sent as text if the speech service %s, and the log states the reason',
    async (_what, sound, reason) => {
      await open(sound);
      await answer({ ...TO_VOICE, files: [VOICE] }, 'Good morning!');
      expect(await sent()).toEqual(['Good morning!']);
      expect(scene.logged.join('\n')).toMatch(
        new RegExp(`warn: an answer was not spoken; its text was sent .*${reason}`),
      );
    },
  );

  it('[F10] is not spoken if the model fails', async () => {
    const said = await open();
    scene.model.next({ fail: { kind: 'unreachable' } });
    await scene.write('', { ...TO_VOICE, files: [VOICE] });
    await scene.answerNext();
    expect(said).toEqual([]);
  });
});

describe('which answers are spoken', () => {
  const message = (voice: boolean, kind?: 'voice' | 'image', trigger?: 'cron') => ({
    message: {
      ...(kind !== undefined && { attachments: [{ kind, ref: 'r' }] }),
      ...(trigger !== undefined && { trigger }),
    },
    route: voice ? { voice: true as const } : {},
  });
  it.each([
    ['to a voice message', 'voice', message(true, 'voice'), true],
    [
      'to a voice message, where the chat shows no voice notes',
      'voice',
      message(false, 'voice'),
      false,
    ],
    ['to a picture', 'voice', message(true, 'image'), false],
    ['to text', 'voice', message(true), false],
    ['to text, if all answers are spoken', 'always', message(true), true],
    ['to a job, if all answers are spoken', 'always', message(true, undefined, 'cron'), false],
    ['to a voice message, if no answers are spoken', 'never', message(true, 'voice'), false],
  ] as const)('[F10] an answer %s is spoken: %s', (_what, when, row, expected) => {
    expect(isAnswerSpoken(when, { messages: [row] })).toBe(expected);
  });
});

describe('the spoken part of an answer', () => {
  it.each([
    ['is all of a short one', '# Tea\n\n- green\n- `black`', 40, 'Tea\n\n• green\n• black'],
    [
      'is the sentences that fit',
      'One is 1.5 long. Two! Three is left out.',
      30,
      'One is 1.5 long. Two!',
    ],
    ['recognizes Chinese sentences, too', '今天天气很好。我们去公园吧，好吗', 12, '今天天气很好。'],
    ['is the beginning of a text without sentences', 'a'.repeat(50), 30, 'a'.repeat(30)],
    ['is empty for an empty answer', ' ', 30, ''],
  ])('[F10] %s', async (_what, markdown, most, text) => {
    let heard = '';
    const speak: TurnSpeechSettings['speak'] = async (said) => {
      heard = said;
      return { kind: 'failed', detail: 'no voice' };
    };
    await speakAnswer(
      { when: 'always', maxCharacters: most, speak },
      markdown,
      {},
      new AbortController().signal,
    );
    expect(heard).toBe(text);
  });
});

describe('the speak tool', () => {
  const call = { calls: [{ name: 'speak', with: { text: 'A *poem*.' } }] };
  const asks = async (writing: WriteMessageOptions) => {
    scene.model.next(call, { say: 'There.' });
    await scene.write('say a poem', writing);
    await scene.answerNext();
  };

  it('[F10] speaks the given text once, before the answer', async () => {
    const said = await open();
    await asks(TO_VOICE);
    expect(said).toEqual(['A poem.']);
    expect(await sent()).toEqual(['voice voice.ogg', 'There.']);
  });

  it('[F10] is offered only if the chat supports voice notes', async () => {
    const said = await open();
    await asks({ maxFileBytes: 1_000 });
    expect(scene.model.asked[0]).not.toHaveProperty('tools');
    expect(said).toEqual([]);
  });

  it('[F10] tells the agent to write instead when the service fails', async () => {
    await open({ kind: 'failed', detail: 'check media.speech.apiKey' });
    await asks(TO_VOICE);
    expect(JSON.stringify(scene.model.asked.at(-1)?.messages)).toContain('Write it instead.');
    expect(await sent()).toEqual(['There.']);
    expect(scene.logged.join()).toContain('a text was not spoken');
  });
});
