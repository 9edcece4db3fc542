import { describe, expect, it } from 'vitest';
import type { ModelEvent } from './chat-model.ts';
import { createOfflineChatModel, type OfflineReason } from './offline-model.ts';

const offline = (reason: OfflineReason) =>
  createOfflineChatModel({
    reason,
    settingsFile: '~/.parley/settings.yaml',
    timeZone: 'Europe/Berlin',
    clock: () => Date.UTC(2026, 10, 21, 13, 5),
  });

async function ask(
  content: string,
  signal = new AbortController().signal,
  model = offline('nothing-found'),
): Promise<ModelEvent[]> {
  const request = { system: [], messages: [{ role: 'user', content } as const] };
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

async function answer(content: string, reason?: OfflineReason): Promise<string> {
  const model = reason && offline(reason);
  const last = (await ask(content, undefined, model)).at(-1);
  return last?.type === 'finish' ? last.text : '';
}

describe('the offline model', () => {
  it('[G01] states that no model is connected, why, and how to connect one', async () => {
    const text = await answer('Please write a poem about the sea.');
    expect(text).toContain('I cannot answer it: no language model is connected');
    expect(text).toContain('no model is configured');
    expect(text).toContain('open *Set up* on Parley’s page');
    expect(text).toContain('put this into `~/.parley/settings.yaml`');
    expect(text).toContain('provider: openai-compatible');
  });

  it('[F10] names the attachments to a message, up to a few files', async () => {
    const attached = ['a picture', 'b', 'c', 'd', 'e', 'f', 'g'];
    const messages = [{ role: 'user', content: 'look', attached } as const];
    let text = '';
    const signal = new AbortController().signal;
    for await (const event of offline('by-choice').stream({ system: [], messages }, signal)) {
      if (event.type === 'finish') text = event.text;
    }
    expect(text).toContain('arrived with a picture, b, c, d, e, and 2 more, but I cannot');
  });

  it('[G01] promises to find a new local server only if searches are made', async () => {
    expect(await answer('hello')).toContain('it is found within half a minute');
    expect(await answer('hello', 'by-choice')).not.toContain('half a minute');
  });

  it('[G01] does not explain how to connect a model when it is the last fallback', async () => {
    const text = await answer('hello', 'all-failed');
    expect(text).toContain('none of the configured models could answer');
    expect(text).not.toContain('```');
  });

  it.each(['help', 'Help!', 'what can you do?', 'Hilfe', '帮助'])(
    'answers a request for help: %s',
    async (question) => {
      expect(await answer(question)).toContain('By myself I can');
    },
  );

  it.each(['status', 'which model are you?', '状态'])(
    'answers a question about its status: %s',
    async (question) => {
      expect(await answer(question)).toContain('I am running');
    },
  );

  it.each(['time', 'What time is it?', 'Wie spät ist es?', '现在几点'])(
    'answers a question about the time: %s',
    async (question) => {
      expect(await answer(question)).toContain(
        'Saturday, 21 November 2026 at 14:05 (Europe/Berlin)',
      );
    },
  );

  it('[G01] calls its clock tool if it is offered, and answers with the result', async () => {
    const tools = [{ name: 'current_time', description: 'Tells.', inputSchema: {} }];
    const question = { role: 'user', content: '<context/>\n\ntime?', said: 'time?' } as const;
    const signal = new AbortController().signal;
    const events: ModelEvent[] = [];
    const first = { system: [], messages: [question], tools };
    for await (const event of offline('by-choice').stream(first, signal)) events.push(event);
    expect(events).toMatchObject([
      { type: 'tool-call', call: { name: 'current_time', arguments: '{}' } },
      { type: 'finish', text: '', finishReason: 'tool-calls' },
    ]);
    const call = events[0]?.type === 'tool-call' ? events[0].call : undefined;
    const messages = [
      question,
      { role: 'assistant', content: '', toolCalls: call === undefined ? [] : [call] } as const,
      { role: 'tool', callId: 'offline_time', name: 'current_time', content: 'Noon.' } as const,
    ];
    for await (const event of offline('by-choice').stream({ ...first, messages }, signal)) {
      events.push(event);
    }
    expect(events.at(-1)).toMatchObject({ text: expect.stringMatching(/^Noon\./) });
  });

  it.each([
    'It is high time that we help the poor with what they need; write an essay on it, two pages long.',
    'timeline of the French Revolution',
    'helper functions in C',
  ])('does not mistake a real request for one of its questions: %s', async (request) => {
    expect(await answer(request)).toContain('I cannot answer it');
  });

  it('[G01] streams fragments that make up the whole answer, at no cost', async () => {
    const events = await ask('hello');
    const pieces = events.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(pieces.length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({
      type: 'finish',
      text: pieces.join(''),
      costUsd: 0,
      finishReason: 'stop',
      model: 'parley/offline',
    });
  });

  it('[G01] ends when it is aborted', async () => {
    const stopped = ask('hello', AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ code: 'model-aborted', retryable: false });
  });
});
