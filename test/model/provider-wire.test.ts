import type { ModelEvent } from '@parley/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askModel, createModel, createProviderSettings, joinAnswerText } from './ask-model.ts';
import { type ModelDouble, type ModelFault, startModelDouble } from './index.ts';

const FIVE_PIECES = { text: ['one ', 'two ', 'three ', 'four ', 'five'] };
let double: ModelDouble;

beforeEach(async () => {
  double = await startModelDouble();
});
afterEach(() => double.close());

const model = (timeouts: object = {}) =>
  createModel({ ...createProviderSettings(double), timeouts }).model;

describe('an OpenAI-compatible server', () => {
  it('[G01] receives the joined layers and streams its answer piece by piece', async () => {
    double.pieceMs = 5;
    double.queue({ ...FIVE_PIECES, usage: { prompt: 40, completion: 5, cached: 30 } });
    const events = await askModel(model());
    expect(textsOf(events).join('')).toBe('one two three four five');
    expect(textsOf(events).length).toBeGreaterThan(1);
    expect(events.at(-1)).toEqual({
      type: 'finish',
      text: 'one two three four five',
      usage: {
        inputTokens: 40,
        outputTokens: 5,
        cachedInputTokens: 30,
        cachedShare: 0.5,
        estimated: false,
      },
      finishReason: 'stop',
      model: 'openai-compatible/double',
      costUsd: null,
    });
    expect(double.requests.map((request) => request.body)).toMatchObject([
      {
        model: 'double',
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: 'system', content: 'You are a test.\n\nIt is noon.' },
          { role: 'user', content: 'hello' },
        ],
      },
    ]);
  });

  it('[G01] may send several pieces together, which become one event', async () => {
    double.queue(FIVE_PIECES);
    expect(textsOf(await askModel(model()))).toEqual(['one two three four five']);
  });

  it('[G01] receives the key and the headers from the settings', async () => {
    const choice = createProviderSettings(double, {
      apiKey: 'secret',
      headers: { 'x-title': 'Parley' },
    });
    await askModel(createModel(choice).model);
    expect(double.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-title': 'Parley',
    });
  });

  it('[G17] gets estimated token counts, at the configured price, when it does not send any', async () => {
    double.queue({ text: 'x'.repeat(40), usage: 'none' });
    const price = { inputPerMillion: 1, outputPerMillion: 100_000 };
    const events = await askModel(createModel(createProviderSettings(double, { price })).model);
    expect(events.at(-1)).toMatchObject({
      usage: { inputTokens: 8, outputTokens: 10, estimated: true },
      costUsd: expect.closeTo(1.000_008, 9),
    });
  });

  it('[G01] may think before it answers; its thoughts are not part of the answer', async () => {
    double.queue({ reasoning: 'two and two is four', text: ['four'] });
    expect((await askModel(model(), 'two and two?'))[0]).toEqual({ type: 'text', text: 'four' });
  });
});

const textsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'text' ? event.text : []));

const status = (code: number, more: object = {}): ModelFault => ({
  kind: 'status',
  status: code,
  ...more,
});

describe('a failing server', () => {
  it.each([
    ['401', status(401), { code: 'model-unauthorised', retryable: false }],
    ['404', status(404), { code: 'model-not-found', retryable: false }],
    [
      '429 with Retry-After',
      status(429, { retryAfter: '20' }),
      { code: 'model-rate-limited', retryable: true, failure: { retryAfterMs: 20_000 } },
    ],
    ['500', status(500), { code: 'model-overloaded', retryable: true }],
    [
      '400 because the context is full',
      status(400, { code: 'context_length_exceeded' }),
      { code: 'model-too-long', retryable: false },
    ],
    ['a web page', { kind: 'html' }, { code: 'model-rubbish', retryable: false }],
    ['broken events', { kind: 'malformed-sse' }, { code: 'model-rubbish', retryable: false }],
    ['no events', { kind: 'empty-stream' }, { code: 'model-empty', retryable: true }],
    ['no words', { kind: 'no-text' }, { code: 'model-empty', retryable: true }],
    ['a reset connection', { kind: 'reset' }, { code: 'model-broken-off', retryable: true }],
    [
      'an error inside the stream',
      { kind: 'error-event', afterPieces: 0, message: 'GPU on fire', code: 'server_error' },
      { code: 'model-overloaded', retryable: true },
    ],
  ] as const)('[G01] is explained: %s', async (_name, fault: ModelFault, expected) => {
    double.fault(fault, Number.POSITIVE_INFINITY);
    await expect(askModel(model())).rejects.toMatchObject({ name: 'ModelError', ...expected });
  });

  it('[G20] counts as having answered when it ends its answer properly without a finish reason', async () => {
    double.fault({ kind: 'no-finish' });
    expect(joinAnswerText(await askModel(model()))).toBe('You said: hello');
    expect(double.total).toBe(1);
  });

  it('[G01] is reported as unreachable in clear words', async () => {
    const choice = createProviderSettings(double);
    const { model: orphan } = createModel(choice);
    await double.close();
    await expect(askModel(orphan)).rejects.toMatchObject({
      code: 'model-unreachable',
      retryable: true,
    });
    double = await startModelDouble();
  });

  it.each([
    ['never begins', { kind: 'hang' }, 'first-token', { firstTokenMs: 150 }],
    ['stops in the middle', { kind: 'stall', afterPieces: 2 }, 'stalled', { chunkMs: 150 }],
  ] as const)('[G01] is abandoned when it %s', async (_name, fault: ModelFault, phase, short) => {
    double.fault(fault, 2);
    double.queue(FIVE_PIECES);
    await expect(askModel(model(short))).rejects.toMatchObject({
      code: 'model-timeout',
      retryable: true,
      failure: { phase },
    });
    await expect.poll(() => double.open).toBe(0);
  });

  it('[G01] has started once it thinks, so later silence counts as a pause', async () => {
    double.fault({ kind: 'stall', afterPieces: 1 }, 2);
    double.queue({ reasoning: 'hmm', text: 'four' }, { reasoning: 'hmm', text: 'four' });
    const failed = askModel(model({ chunkMs: 150 }));
    await expect(failed).rejects.toMatchObject({ failure: { kind: 'timeout', phase: 'stalled' } });
  });

  it('[G01] is abandoned when the whole answer takes too long, even without a pause', async () => {
    double.pieceMs = 50;
    double.queue({ text: Array.from({ length: 100 }, () => 'word ') });
    const failed = askModel(model({ totalMs: 400 }));
    await expect(failed).rejects.toMatchObject({ failure: { kind: 'timeout', phase: 'total' } });
  });

  it('[G01] is reported after the text received so far when it breaks off, and is not asked again', async () => {
    double.fault({ kind: 'cut', afterPieces: 2 });
    double.queue(FIVE_PIECES);
    const events: ModelEvent[] = [];
    const failed = askModel(model(), 'hello', new AbortController().signal, events);
    await expect(failed).rejects.toMatchObject({ code: 'model-broken-off' });
    expect(textsOf(events).join('')).toBe('one two ');
    expect(double.total).toBe(1);
  });

  it.each([{ kind: 'reset' }, status(503)] as const)(
    '[G01] is asked again after a transient failure: $kind',
    async (fault: ModelFault) => {
      double.fault(fault);
      expect(joinAnswerText(await askModel(model()))).toBe('You said: hello');
      expect(double.total).toBe(2);
    },
  );

  it('never leaks the prompt or the key in its error', async () => {
    double.fault(status(401, { message: 'Incorrect API key provided: sk-secret' }));
    const { model: keyed } = createModel(createProviderSettings(double, { apiKey: 'sk-secret' }));
    const error: unknown = await askModel(keyed, 'my private words').catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'model-unauthorised' });
    expect(String(error)).not.toContain('sk-secret');
    expect(JSON.stringify(error, allFields)).not.toContain('private words');
  });
});

/** JSON of everything that an error contains, including what `JSON.stringify` leaves out. */
function allFields(_key: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  return Object.fromEntries(
    Object.getOwnPropertyNames(value).map((name) => [name, Reflect.get(value, name)]),
  );
}

describe('stopping', () => {
  it.each([
    ['before the first word', { kind: 'hang' }],
    ['in the middle', { kind: 'stall', afterPieces: 2 }],
  ] as const)('[G01] %s ends the call here and at the server', async (_name, fault: ModelFault) => {
    double.fault(fault);
    double.queue(FIVE_PIECES);
    const controller = new AbortController();
    const stopped = askModel(model(), 'hello', controller.signal);
    stopped.catch(() => undefined);
    await expect.poll(() => double.open).toBe(1);
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'model-aborted', retryable: false });
    await expect.poll(() => double.open).toBe(0);
    expect(double.total).toBe(1);
  });

  it('[G01] leaving the loop ends the call at the server', async () => {
    double.fault({ kind: 'stall', afterPieces: 2 });
    double.queue(FIVE_PIECES);
    const request = { system: [], messages: [{ role: 'user', content: 'hello' } as const] };
    for await (const event of model().stream(request, new AbortController().signal)) {
      expect(event).toMatchObject({ type: 'text', text: expect.stringMatching(/^one /) });
      break;
    }
    await expect.poll(() => double.open).toBe(0);
  });

  it('[G01] an abort before the call starts prevents the request', async () => {
    const stopped = askModel(model(), 'hello', AbortSignal.abort());
    await expect(stopped).rejects.toMatchObject({ code: 'model-aborted' });
    expect(double.total).toBe(0);
  });
});
