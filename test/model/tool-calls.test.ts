import type { ChatModel, ModelEvent, ModelMessage, ModelRequest } from '@parley/models';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createModel, createProviderSettings } from './ask-model.ts';
import { getMessageText, listToolNames, STRICT_SERVERS } from './chat-request.ts';
import { type ModelDouble, startModelDouble } from './index.ts';

const TOOLS: ModelRequest['tools'] = ['list', 'read'].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
}));
const QUESTION = { role: 'user', content: 'what is in a.md?' } as const;

let double: ModelDouble;
let model: ChatModel;
beforeEach(async () => {
  double = await startModelDouble();
  model = createModel(createProviderSettings(double)).model;
});
afterEach(() => double.close());

async function ask(
  messages: readonly ModelMessage[] = [QUESTION],
  asked = model,
  seen: ModelEvent[] = [],
): Promise<ModelEvent[]> {
  const request = { system: [], messages, ...(TOOLS !== undefined && { tools: TOOLS }) };
  const events = asked.stream(request, new AbortController().signal);
  for await (const event of events) seen.push(event);
  return seen;
}
const offered = () => double.requests.map(({ body }) => listToolNames(body));

describe('tools in requests to a model', () => {
  it('[G01] are offered in order; a call arrives whole, with its arguments joined', async () => {
    const given = { path: 'a long name with “quotes”.md', deep: { n: [1, 2] } };
    double.queue({ text: ['Let me ', 'look.'], toolCalls: [{ name: 'read', arguments: given }] });
    const events = await ask();
    expect(offered()).toEqual([['list', 'read']]);
    expect(events).toMatchObject([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', call: { id: 'call_1', name: 'read', arguments: JSON.stringify(given) } },
      { type: 'finish', text: 'Let me look.', finishReason: 'tool-calls' },
    ]);
  });

  it('[G01] may be called without text, and several in one answer', async () => {
    const calls = ['a.md', 'b.md'].map((path) => ({ name: 'read', arguments: { path } }));
    double.queue({ toolCalls: calls });
    const events = await ask();
    expect(events.map(({ type }) => type)).toEqual(['tool-call', 'tool-call', 'finish']);
    expect(events.at(-1)).toMatchObject({ text: '', finishReason: 'tool-calls' });
  });

  it.each(['{"path": "a.md', 'a.md', ''])(
    '[G01] arguments that are not JSON arrive as they were written: %j',
    async (written) => {
      double.queue({ toolCalls: [{ name: 'read', arguments: null, written }] });
      expect((await ask())[0]).toMatchObject({ call: { name: 'read', arguments: written } });
    },
  );

  it('[G01] get their results in the form a strict server expects', async () => {
    const toolCalls = [
      { id: 'c1', name: 'read', arguments: '{"path":"a.md"}' },
      { id: 'c2', name: 'read', arguments: 'nonsense' },
    ];
    await ask([
      QUESTION,
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', callId: 'c1', name: 'read', content: 'parrots' },
      { role: 'tool', callId: 'c2', name: 'read', content: 'not JSON', failed: true },
    ]);
    expect(double.requests[0]?.body.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1' }, { id: 'c2', function: { arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'parrots' },
      { role: 'tool', tool_call_id: 'c2', content: 'not JSON' },
    ]);
  });

  it('[G01] are left out for a server that refuses them, and not offered again', async () => {
    double.refusesTools = true;
    expect((await ask()).at(-1)).toMatchObject({ text: 'You said: what is in a.md?' });
    expect((await ask()).at(-1)).toMatchObject({ text: 'You said: what is in a.md?' });
    expect(offered()).toEqual([['list', 'read'], [], []]);
    expect(JSON.stringify(double.requests[1]?.body.messages)).toContain('cannot call tools');
  });

  it.each(STRICT_SERVERS)(
    '[D03] are followed by an extra line before a later message when %s requires it, also in later requests',
    async (server) => {
      double.strictAs = server;
      const toolCalls = [{ id: 'c1', name: 'read', arguments: '{}' }];
      const messages: readonly ModelMessage[] = [
        QUESTION,
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', callId: 'c1', name: 'read', content: 'parrots' },
        { role: 'user', content: 'and in b.md?' },
      ];
      const answered = { text: 'You said: and in b.md?' };
      expect((await ask(messages)).at(-1)).toMatchObject({ ...answered, tries: 2 });
      expect((await ask(messages)).at(-1)).toMatchObject(answered);
      expect(double.total).toBe(3);
      const roles = double.requests[2]?.body.messages.map(({ role }) => role);
      expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
      expect(getMessageText(double.requests[2]?.body.messages[2])).toBe('parrots');
    },
  );

  it('[G20] are not final when the answer is interrupted, so another model answers instead', async () => {
    const second = await startModelDouble();
    const fallback = [createProviderSettings(second)];
    const both = createModel({ ...createProviderSettings(double), fallback }).model;
    const half = { text: [], toolCalls: [{ name: 'read', arguments: {} }] };
    double.queue(half, half);
    double.fault({ kind: 'cut', afterPieces: 2 }, 2);
    const events = await ask([QUESTION], both);
    expect(events.some(({ type }) => type === 'tool-call')).toBe(false);
    expect([double.total, second.total]).toEqual([2, 1]);
    await second.close();
  });
});
