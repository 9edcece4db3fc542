import { systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import {
  createChatModel,
  type ModelEvent,
  type ModelRequest,
  ModelSettings,
  type ModelTool,
} from '@parley/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProviderSettings } from './ask-model.ts';
import { getMessageText } from './chat-request.ts';
import { type ModelDouble, startModelDouble } from './index.ts';

let double: ModelDouble;
let lines: ReturnType<typeof createRecordingLogger>['lines'];
beforeEach(async () => {
  double = await startModelDouble();
  double.pieceMs = 1;
});
afterEach(() => double.close());

const WEATHER: ModelTool = {
  name: 'get_weather',
  description: 'Tells the weather.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city'],
  },
};

function open(bounds?: { characters: number; reasoningCharacters: number }) {
  const { log, lines: logged } = createRecordingLogger();
  lines = logged;
  const usual = {
    characters: 50_000,
    reasoningCharacters: 400_000,
    argumentBytes: 2_000,
    calls: 20,
  };
  return createChatModel(ModelSettings.parse(createProviderSettings(double)), {
    settingsFile: 'settings.yaml',
    clock: () => 0,
    monotonic: systemTime.monotonic,
    logger: log,
    localServers: [],
    bounds: { ...usual, ...bounds },
  }).model;
}

async function ask(model: ReturnType<typeof open>, request: Partial<ModelRequest> = {}) {
  const events: ModelEvent[] = [];
  const whole = { system: [], messages: [{ role: 'user', content: 'hi' } as const], ...request };
  for await (const event of model.stream(whole, new AbortController().signal)) events.push(event);
  return events;
}

const shown = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? event.text : [])).join('');
const finish = (events: readonly ModelEvent[]) =>
  events.find((event) => event.type === 'finish') ?? expect.fail('it did not end');
const calls = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool-call' ? event.call : []));

/** Splits a text into pieces of one character. */
const bySign = (text: string) => ({ text: [...text] });
const THOUGHT = 'They greet me. I keep it short.';

describe('a call that the model writes as text', () => {
  it('[G02] [G20] can name a tool that the request does not offer yet', async () => {
    const written = '{"name":"get_weather","arguments":{"city":"Rome"}}';
    double.queue(bySign(written), bySign(written));
    const clock = { ...WEATHER, name: 'clock' };
    const events = await ask(open(), { tools: [clock], callable: [clock, WEATHER] });
    expect(calls(events)).toMatchObject([{ name: 'get_weather' }]);
    expect(JSON.stringify(double.requests.at(-1)?.body.tools)).not.toContain('get_weather');
    expect(calls(await ask(open(), { tools: [clock] }))).toEqual([]);
  });
});

describe("reasoning in a server's text", () => {
  it('[G20] is not part of the answer, and is kept for people', async () => {
    double.queue(bySign(`<think>\n${THOUGHT}\n</think>\n\nHello!`));
    const events = await ask(open());
    expect(shown(events)).toBe('Hello!');
    expect(finish(events)).toMatchObject({
      text: 'Hello!',
      aside: { reasoning: THOUGHT, dropped: [] },
    });
  });

  it('[G20] is retracted once when it has no start tag, and held back from then on', async () => {
    const model = open();
    double.queue(
      bySign(`A greeting. Be short.\n</think>\n\nHello!`),
      bySign(`A greeting again.\n</think>\n\nHi!`),
    );
    const first = await ask(model);
    const at = first.findIndex(({ type }) => type === 'restart');
    expect([at > 0, shown(first.slice(at)), finish(first).text]).toEqual([
      true,
      'Hello!',
      'Hello!',
    ]);
    const second = await ask(model);
    expect([shown(second), finish(second).text]).toEqual(['Hi!', 'Hi!']);
    expect(second.some(({ type }) => type === 'restart')).toBe(false);
  });

  it('[G20] is held back from the first answer on when the text sounds like reasoning', async () => {
    double.queue(bySign(`${THOUGHT}\n</think>\n\nHello!`));
    const events = await ask(open());
    expect(shown(events)).toBe('Hello!');
    expect(events.some(({ type }) => type === 'restart')).toBe(false);
  });

  it('[G20] is never passed on where nothing can be retracted', async () => {
    double.queue(bySign(`A greeting. Be short.\n</think>\n\nHello!`));
    expect(shown(await ask(open(), { appendsOnly: true }))).toBe('Hello!');
  });

  it('[G20] counts as thoughts and not as text', async () => {
    double.queue(bySign(`<think>${'long '.repeat(100)}</think>Hello!`));
    const events = await ask(open({ characters: 100, reasoningCharacters: 1_000 }));
    expect(finish(events)).toMatchObject({ text: 'Hello!' });
    expect(finish(events).cut).toBeUndefined();
  });

  it('[G20] counts as an empty answer when no answer follows, even after a second attempt', async () => {
    const thought = bySign('<think>I think and think');
    double.queue(thought, thought);
    await expect(ask(open())).rejects.toMatchObject({ code: 'model-empty' });
  });

  it('[G20] is not sent back with earlier answers', async () => {
    const past = { role: 'assistant', content: `<think>${THOUGHT}</think>\n\nHello!` } as const;
    const user = { role: 'user', content: 'and now?' } as const;
    await ask(open(), { messages: [user, past, user] });
    const sent = double.requests[0]?.body.messages.map((message) => getMessageText(message));
    expect(sent).toEqual(['and now?', 'Hello!', 'and now?']);
  });
});

describe('a tool call that a model wrote into its text', () => {
  const call = (json: string) => `<tool_call>\n${json}\n</tool_call>`;

  it('[G20] becomes a call, with arguments as the tool expects them', async () => {
    double.queue(
      bySign(
        `I look.\n${call('{"name": "getWeather", "arguments": {"city": "Oslo", "days": "2"}}')}`,
      ),
    );
    const events = await ask(open(), { tools: [WEATHER] });
    expect(shown(events).trim()).toBe('I look.');
    expect(calls(events)).toEqual([
      { id: 'written_1', name: 'get_weather', arguments: '{"city":"Oslo","days":2}' },
    ]);
    expect(finish(events).finishReason).toBe('tool-calls');
  });

  it('[G20] is dropped if the tool is not offered or the arguments do not fit, and the log reports this without its text', async () => {
    double.queue(
      bySign(
        `Hello!\n${call('{"name": "get_weather", "arguments": {"days": 2}}')}\n${call('{"name": "heron", "arguments": {}}')}`,
      ),
    );
    const events = await ask(open(), { tools: [WEATHER] });
    expect([shown(events).trim(), calls(events)]).toEqual(['Hello!', []]);
    expect(finish(events).aside?.dropped.map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^city is missing/),
      expect.stringMatching(/^there is no tool "heron"/),
    ]);
    const written = JSON.stringify(lines);
    expect(written).toContain('misfit');
    expect(written).toContain('unknown-tool');
    expect(written).not.toContain('heron');
  });

  it('[G20] reaches the caller when it is the entire answer, and the caller refuses it with the reason', async () => {
    double.queue(bySign(call('{"name": "heron", "arguments": {}}')));
    const events = await ask(open(), { tools: [WEATHER] });
    expect(calls(events)).toMatchObject([{ name: 'heron', arguments: '{}' }]);
  });

  it('[G20] is a quotation when the request already contains it', async () => {
    const quoted = '<function=get_weather>{"city": "Oslo"}</function>';
    double.queue(bySign(`It says:\n${quoted}`));
    const messages = [{ role: 'user', content: `Read this page: ${quoted}` } as const];
    const events = await ask(open(), { tools: [WEATHER], messages });
    expect([shown(events), calls(events)]).toEqual([`It says:\n${quoted}`, []]);
  });

  it('[G20] is hidden and not run when it is too long', async () => {
    double.queue(
      bySign(
        `Hello!\n<tool_call>{"name": "get_weather", "arguments": {"city": "${'x'.repeat(3_000)}"}}</tool_call>`,
      ),
    );
    const events = await ask(open(), { tools: [WEATHER] });
    expect([shown(events).trim(), calls(events)]).toEqual(['Hello!', []]);
  });
});
