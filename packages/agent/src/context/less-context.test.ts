import {
  type ChatModel,
  ModelError,
  type ModelFailure,
  type ModelRequest,
  resolveWindow,
} from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { defineTool } from '../tools/tool.ts';
import { computeNextLimit, inferContextWindow, type RequestRefusal } from './less-context.ts';

let scene: TurnScene | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

const tokensOf = ({ system, messages, tools = [] }: ModelRequest): number =>
  [
    ...system.map(({ text }) => text),
    ...messages.map(({ content }) => content),
    ...tools.map((tool) => JSON.stringify(tool)),
  ].reduce((sum, text) => sum + estimateTokens(text), 0);

/**
 * A model with a context window of `window` tokens that answers `fine`. `refuse` decides how it
 * refuses a longer request.
 */
function smallModel(window: number, refuse: (tokens: number) => ModelFailure, calls = 0) {
  const asked: number[] = [];
  let learned: number | null = null;
  let left = calls;
  const model: ChatModel = {
    id: 'test/small',
    get learnedTokens() {
      return learned;
    },
    learnTokens(tokens) {
      learned = Math.min(tokens, learned ?? tokens);
    },
    async *stream(request) {
      const tokens = tokensOf(request);
      asked.push(tokens);
      if (tokens > window) throw new ModelError(refuse(tokens), 'test/small', 'It was refused.');
      const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, estimated: true };
      const done = { type: 'finish', usage, model: 'test/small', costUsd: null } as const;
      left -= 1;
      if (left >= 0) {
        yield {
          type: 'tool-call',
          call: { id: `c${left}`, name: 'look', arguments: '{"word":"x"}' },
        };
        yield { ...done, text: '', finishReason: 'tool-calls' };
        return;
      }
      yield { type: 'text', text: 'fine' };
      yield { ...done, text: 'fine', finishReason: 'stop' };
    },
  };
  return { model, asked };
}

async function open(
  model: ChatModel,
  known: number,
  extras: SceneOptions = {},
): Promise<TurnScene> {
  const opened = await openTurnScene(
    {},
    {
      model,
      contextTokens: () => resolveWindow(model, known),
      history: { entries: 100, tokens: 50_000 },
      ...extras,
    },
  );
  scene = opened;
  return opened;
}

async function tell(text: string): Promise<string | undefined> {
  await scene?.write(text);
  await scene?.answerNext();
  return (await scene?.owed())?.at(-1);
}

const REFUSALS: readonly (readonly [string, (tokens: number) => ModelFailure])[] = [
  ['without numbers', () => ({ kind: 'too-long' })],
  ['naming its window', () => ({ kind: 'too-long', windowTokens: 4_000 })],
  [
    'naming its window and its own count',
    (tokens) => ({ kind: 'too-long', windowTokens: 8_000, promptTokens: tokens * 2 }),
  ],
  ['because of its size in bytes', () => ({ kind: 'too-long', isBytes: true })],
  ['without a reason', () => ({ kind: 'refused', mayBeTooLong: true })],
];

describe.each(REFUSALS)('a request that is too long and is refused %s', (_name, refuse) => {
  it('[G21] is retried with less content if one message is too long', async () => {
    const { model } = smallModel(4_000, refuse);
    await open(model, 8_000);
    expect(await tell('words '.repeat(6_000))).toBe('fine');
  });

  it('[G21] is retried with less content if the conversation has grown too long', async () => {
    const { model, asked } = smallModel(4_000, refuse);
    await open(model, 8_000);
    for (let turn = 0; turn < 16; turn += 1) expect(await tell('words '.repeat(400))).toBe('fine');
    // The window learned from the refusal keeps later requests short, so few of them are refused.
    expect(asked.length).toBeLessThan(30);
  });

  it('[G21] is retried with less content if tool results are too long', async () => {
    const { model } = smallModel(4_000, refuse, 2);
    const { tool } = createCountingTool('look');
    const long = defineTool({ ...tool, run: async () => ({ text: 'result '.repeat(3_000) }) });
    await open(model, 8_000, { tools: [long] });
    expect(await tell('Look twice')).toBe('fine');
  });
});

describe('a request refused without a clear reason', () => {
  it('[G21] is not retried if it is short', async () => {
    const { model, asked } = smallModel(0, () => ({ kind: 'refused', mayBeTooLong: true }));
    await open(model, 100_000);
    expect(await tell('Hello')).toContain('⚙️');
    expect(asked).toHaveLength(1);
  });

  it('[G21] is retried once if it is long, and then the failure is reported', async () => {
    const { model, asked } = smallModel(0, () => ({ kind: 'refused', mayBeTooLong: true }));
    await open(model, 100_000);
    expect(await tell('words '.repeat(6_000))).toContain('⚙️');
    expect(asked).toHaveLength(2);
  });

  it('[G21] is not retried after a server failure if it is far below the window', async () => {
    const { model, asked } = smallModel(0, () => ({ kind: 'overloaded', mayBeTooLong: true }));
    await open(model, 100_000);
    await tell('words '.repeat(6_000));
    expect(asked).toHaveLength(1);
  });

  it('[G21] is retried after a server failure if it is close to the window', async () => {
    const { model } = smallModel(3_000, () => ({ kind: 'overloaded', mayBeTooLong: true }));
    await open(model, 6_000);
    expect(await tell('words '.repeat(6_000))).toBe('fine');
  });

  it('[G21] is not retried if nothing more can be omitted', async () => {
    const { model, asked } = smallModel(0, () => ({ kind: 'too-long' }));
    await open(model, 8_000);
    expect(await tell('words '.repeat(6_000))).toContain('⚙️');
    expect(asked.length).toBeLessThanOrEqual(5);
  });
});

describe('the limit for the next request', () => {
  const tooLong = (sent: number, more = {}): RequestRefusal => ({
    failure: { kind: 'too-long', ...more },
    sent,
  });

  it.each([
    ['half of the refused request', [tooLong(6_000)], undefined, 3_000],
    ['half of the known window if the request was longer', [tooLong(60_000)], 8_000, 4_000],
    [
      'the window that the server names, scaled by its own count',
      [tooLong(5_000, { windowTokens: 8_000, promptTokens: 10_000 })],
      32_000,
      3_600,
    ],
    [
      'less than the refused request, whatever the window',
      [tooLong(5_000, { windowTokens: 8_000 })],
      32_000,
      3_500,
    ],
    ['none for other failures', [{ failure: { kind: 'unauthorised' }, sent: 9_000 }], 10_000, null],
  ] as const)('[G21] the next limit is %s', (_name, refusals, known, room) => {
    expect(computeNextLimit(refusals, known)).toBe(room);
  });

  it('[G21] is always smaller than the refused request, so that retries end', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 600, max: 300_000 }), { minLength: 1, maxLength: 8 }),
        fc.option(fc.integer({ min: 2_048, max: 1_000_000 }), { nil: undefined }),
        (sizes, known) => {
          const sorted = sizes.toSorted((a, b) => b - a).map((sent) => tooLong(sent));
          const room = computeNextLimit(sorted, known);
          const last = sorted.at(-1)?.sent ?? 0;
          return room === null ? true : sorted.length < 5 && room < Math.max(last, 1_024);
        },
      ),
    );
  });

  it('[G21] is not derived from a limit in bytes', () => {
    expect(inferContextWindow([tooLong(9_000, { isBytes: true })])).toBeNull();
    expect(inferContextWindow([tooLong(9_000)])).toBe(8_100);
    expect(inferContextWindow([])).toBeNull();
  });
});
