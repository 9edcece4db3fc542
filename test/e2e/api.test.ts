import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { getMessageText, listImages } from '../model/chat-request.ts';
import { HeldAnswers, type ModelDouble, startModelDouble } from '../model/index.ts';
import { startParleyInProcess, type TestParley } from './parley-here.ts';
import { type DataFolder, makeDataFolder, runCommand } from './parley-process.ts';
import { createWebClient } from './web-client.ts';

const OWNER = 'owner-token-for-the-api-0123456789abcdef';
const SHOP = 'shop-token-for-the-api-0123456789abcdefg';
const HELP = 'help-token-for-the-api-0123456789abcdefg';
const FRESH = 'fresh-token-for-the-api-0123456789abcdef';

let model: ModelDouble;
let folder: DataFolder;
let parley: TestParley;
const held = new HeldAnswers();

beforeAll(async () => {
  model = await startModelDouble();
  model.reply(async ({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === 'tool')
      return `It is ${getMessageText(last).includes('20') ? 'late' : 'lost'}.`;
    const question = getMessageText(last).split('\n').at(-1) ?? '';
    await held.pass(question);
    if (question === 'the time, please')
      return { text: 'Let me look.', toolCalls: [{ name: 'current_time', arguments: {} }] };
    if (question === 'note it') {
      const write = { path: 'notes/birds.md', text: 'Parrots talk.' };
      return { text: 'I will note it.', toolCalls: [{ name: 'write', arguments: write }] };
    }
    if (question === 'at length') return '**Bold** and a | table.\n\n'.repeat(400);
    return `You said: ${question}`;
  });
  folder = makeDataFolder({
    model: { provider: 'openai-compatible', baseUrl: model.baseUrl, model: 'double' },
    agent: { id: 'polly' },
    agents: { help: { name: 'Helpful Hannah' } },
    lanes: { collectPauseMs: 50 },
    limits: { messageCharacters: 20_000, waitingPerConversation: 2 },
    approvals: { ask: ['write'] },
    http: { port: 0 },
    api: {
      waitSeconds: 20,
      clients: {
        desk: { token: OWNER, owner: true },
        shop: { token: SHOP },
        help: { token: HELP, agent: 'help' },
        fresh: { token: FRESH, conversations: 'per-request' },
      },
    },
  });
  mkdirSync(join(folder.path, 'workspace'), { recursive: true });
  writeFileSync(join(folder.path, 'workspace', 'MEMORY.md'), 'MEMORY-CANARY');
  parley = await startParleyInProcess(folder.path);
});
afterAll(async () => {
  await parley?.discard();
  await model?.close();
  folder?.remove();
});

const asOpenAi = (token: string) =>
  createOpenAICompatible({
    name: 'parley',
    baseURL: `${parley.address}/v1`,
    apiKey: token,
    includeUsage: true,
  }).chatModel('polly');

const says = (text: string) => ({
  prompt: [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }],
});

/** The fields that the AI SDK client reads from a streamed answer. */
async function streamed(token: string, text: string, headers: Record<string, string> = {}) {
  const { stream } = await asOpenAi(token).doStream({ ...says(text), headers });
  const pieces: string[] = [];
  const errors: unknown[] = [];
  let finish: unknown;
  for await (const part of stream) {
    if (part.type === 'text-delta') pieces.push(part.delta);
    if (part.type === 'error') errors.push(part.error);
    if (part.type === 'finish') finish = part;
  }
  return { pieces, text: pieces.join(''), errors, finish };
}

async function generated(token: string, text: string, headers: Record<string, string> = {}) {
  const { content, finishReason, usage } = await asOpenAi(token).doGenerate({
    ...says(text),
    headers,
  });
  const said = content.map((part) => (part.type === 'text' ? part.text : part.type)).join('');
  return { text: said, finishReason, usage };
}

const Answer = z.object({
  error: z.object({ message: z.string(), type: z.string(), code: z.string() }).optional(),
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).default([]),
});

/** Sends a hand-written request and returns the content of the answer. */
async function post(
  token: string | undefined,
  body: object | string,
  headers: Record<string, string> = {},
) {
  const response = await fetch(`${parley.address}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { error, choices } = Answer.parse(await response.json());
  const text = choices[0]?.message.content;
  return { status: response.status, headers: response.headers, error, text };
}

const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });
const asked = () => model.requests.length;

describe('an OpenAI client that talks to the agent', () => {
  it('[F01] [F03] receives the answer, the token counts and the finish reason', async () => {
    const answer = await generated(SHOP, 'hello there');
    expect(answer.text).toBe('You said: hello there');
    expect(answer.finishReason).toMatchObject({ unified: 'stop' });
    expect(answer.usage.inputTokens.total).toBeGreaterThan(0);
    expect(answer.usage.outputTokens.total).toBeGreaterThan(0);
  });

  it('[F12] receives the answer in chunks that add up to the delivered answer', async () => {
    model.pieceMs = 2;
    const answer = await streamed(SHOP, 'at length', { 'X-Parley-Conversation': 'long' });
    model.pieceMs = 0;
    expect(answer.pieces.length).toBeGreaterThan(3);
    expect(answer.errors).toEqual([]);
    expect(answer.finish).toMatchObject({ finishReason: { unified: 'stop' } });
    expect(answer.text).toBe('**Bold** and a | table.\n\n'.repeat(400));
  });

  it('[F12] keeps text that precedes a tool call, streamed or not', async () => {
    const { text } = await streamed(SHOP, 'the time, please');
    expect(text).toBe('Let me look.\n\nIt is late.');
    expect((await generated(SHOP, 'the time, please')).text).toBe(text);
  });

  it('[F01] streams in the exact format: role, text, end, usage, [DONE]', async () => {
    const response = await fetch(`${parley.address}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${SHOP}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...user('in events'),
        model: 'polly',
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.3,
      }),
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const lines = (await response.text()).split('\n\n').filter((line) => line.startsWith('data: '));
    const [last, ...events] = lines.map((line) => line.slice(6)).reverse();
    expect(last).toBe('[DONE]');
    const [usage, end, ...pieces] = events.map((event) => JSON.parse(event));
    const piece = { object: 'chat.completion.chunk', model: 'polly', id: end.id };
    expect(usage).toMatchObject({
      ...piece,
      choices: [],
      usage: { total_tokens: expect.any(Number) },
    });
    expect(end).toMatchObject({
      ...piece,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    });
    expect(pieces.at(-1)).toMatchObject({
      choices: [{ delta: { role: 'assistant', content: '' } }],
    });
    const said = pieces.reverse().map(({ choices }) => choices[0].delta.content);
    expect(said.join('')).toBe('You said: in events');
  });

  it('[F01] lists the agent as the only model available to its token', async () => {
    const headers = { authorization: `Bearer ${SHOP}` };
    const list = await fetch(`${parley.address}/v1/models`, { headers });
    expect(await list.json()).toMatchObject({
      object: 'list',
      data: [{ id: 'polly', object: 'model' }],
    });
    expect((await post(SHOP, { ...user('hi'), model: 'gpt-5' })).status).toBe(404);
  });

  it('[F14] talks to the agent named as the model', async () => {
    const headers = { authorization: `Bearer ${HELP}` };
    const list = await fetch(`${parley.address}/v1/models`, { headers });
    expect(await list.json()).toMatchObject({ data: [{ id: 'help' }] });
    expect((await post(HELP, { ...user('who is it'), model: 'help' })).text).toContain('who is it');
    const system = JSON.stringify(model.requests.at(-1)?.body.messages[0]);
    expect(system).toContain('Helpful Hannah');
    expect((await post(HELP, { ...user('hi'), model: 'polly' })).status).toBe(404);
  });

  it('[P04] receives validated JSON when it asks for JSON', async () => {
    model.queue('Here it is: {"city": 7}', '```json\n{"city": "Rome"}\n```');
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    };
    const format = { type: 'json_schema', json_schema: { name: 'place', schema } };
    const { text } = await post(SHOP, { ...user('where'), response_format: format });
    expect(JSON.parse(text ?? '')).toEqual({ city: 'Rome' });
  });

  it.each([
    ['no token', undefined, user('hi'), 401, 'invalid_api_key'],
    ['the token of the page', 'page', user('hi'), 401, 'invalid_api_key'],
    ['no JSON', SHOP, 'hello', 400, 'invalid_request'],
    ['no message', SHOP, { messages: [] }, 400, 'invalid_request'],
    [
      'no new message',
      SHOP,
      { messages: [{ role: 'assistant', content: 'x' }] },
      400,
      'no_message',
    ],
    ['an empty message', SHOP, user('  '), 400, 'no_message'],
    [
      'tools of its own',
      SHOP,
      { ...user('hi'), tools: [{ type: 'function' }] },
      400,
      'tools_unsupported',
    ],
    ['several answers', SHOP, { ...user('hi'), n: 2 }, 400, 'n_unsupported'],
    [
      'an address of a picture',
      SHOP,
      user([{ type: 'image_url', image_url: { url: 'http://10.0.0.1/a.png' } }]),
      400,
      'url_unsupported',
    ],
    ['too long a text', SHOP, user('x'.repeat(20_001)), 413, 'request_too_large'],
  ])(
    '[D07] receives an OpenAI-style error for %s, and no model is called',
    async (_, token, body, status, code) => {
      const before = asked();
      const answer = await post(token === 'page' ? parley.token : token, body);
      expect({ status: answer.status, code: answer.error?.code }).toEqual({ status, code });
      expect(answer.error).toMatchObject({
        message: expect.any(String),
        type: expect.any(String),
      });
      expect(asked()).toBe(before);
    },
  );

  it('[F10] sends a picture as a data: URL', async () => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
    const answer = await post(SHOP, user([{ type: 'text', text: 'what is this' }, picture]));
    expect(answer.text).toBe('You said: what is this');
    const images = model.requests.at(-1)?.body.messages.flatMap(listImages) ?? [];
    expect(images).toHaveLength(1);
  });

  it('[F08] runs one turn per Idempotency-Key, concurrently and later', async () => {
    const before = asked();
    const key = { 'Idempotency-Key': 'order-4711' };
    const twice = await Promise.all([
      generated(SHOP, 'only once', key),
      streamed(SHOP, 'only once', key),
    ]);
    const later = await generated(SHOP, 'only once', key);
    expect([...twice, later].map(({ text }) => text)).toEqual(Array(3).fill('You said: only once'));
    expect(asked()).toBe(before + 1);
  });

  it('[D01] can fetch the answer after a disconnect', async () => {
    const slow = held.hold('gone away');
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${SHOP}`, 'idempotency-key': 'left-1' };
    const left = fetch(`${parley.address}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...user('gone away'), stream: true }),
      signal: leaving.signal,
    }).then((response) => response.text());
    await slow.asked;
    leaving.abort();
    await expect(left).rejects.toThrow();
    slow.release();
    const again = await generated(SHOP, 'gone away', { 'Idempotency-Key': 'left-1' });
    expect(again.text).toBe('You said: gone away');
  });

  it('[D07] receives a retry delay while the queue is full', async () => {
    const slow = held.hold('first of many');
    const first = generated(SHOP, 'first of many', { 'X-Parley-Conversation': 'full' });
    await slow.asked;
    const in_ = { 'X-Parley-Conversation': 'full' };
    const waiting = ['second', 'third'].map((text) => post(SHOP, user(text), in_));
    await expect
      .poll(async () => (await post(SHOP, user('one more'), in_)).status, { timeout: 20_000 })
      .toBe(429);
    const refused = await post(SHOP, user('one more'), in_);
    expect(refused.headers.get('retry-after')).toBe('10');
    slow.release();
    expect((await first).text).toBe('You said: first of many');
    const texts = (await Promise.all(waiting)).map(({ text }) => text);
    // Both messages arrived during a turn, so one turn answers both (D03).
    expect(new Set(texts).size).toBe(1);
  });

  it('[F02] [W02] has one conversation per user and keeps its system text in the message', async () => {
    const system = { role: 'system', content: 'SYSTEM-CANARY: speak like a pirate' };
    const ask = (content: string, more: object) =>
      post(SHOP, { messages: [system, { role: 'user', content }], ...more });
    await ask('my number is 7', { user: 'ann@example.com' });
    await ask('and mine is 8', { user: 'bo@example.com' });
    await ask('my number?', { user: 'ann@example.com' });
    const { messages = [] } = model.requests.at(-1)?.body ?? {};
    const seen = (role: string) =>
      messages
        .filter((one) => one.role === role)
        .map(getMessageText)
        .join('\n');
    expect(seen('user')).toContain('my number is 7');
    expect(seen('user')).not.toContain('and mine is 8');
    expect(seen('system')).not.toContain('SYSTEM-CANARY');
    // The system text applies to this turn only and does not appear again in the history.
    expect(seen('user').match(/SYSTEM-CANARY/g)).toHaveLength(1);
  });

  it('[F02] can send its own history, with the role of each message', async () => {
    const { text } = await post(FRESH, {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'my word is tulip' },
        { role: 'assistant', content: 'noted: tulip' },
        { role: 'user', content: 'and now?' },
      ],
    });
    expect(text).toBe('You said: and now?');
    const { messages = [] } = model.requests.at(-1)?.body ?? {};
    const past = messages
      .filter(({ role }) => role !== 'system')
      .map((one) => [one.role, getMessageText(one)]);
    expect(past.slice(0, 2)).toEqual([
      ['user', 'my word is tulip'],
      ['assistant', 'noted: tulip'],
    ]);
    await post(FRESH, user('something else'));
    expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain('tulip');
  });

  it('[W02] is a guest unless the settings make it the owner', async () => {
    const said = async (token: string, text: string) => (await post(token, user(text))).text;
    expect(await said(SHOP, '/whoami')).toContain('`api:shop`');
    expect(await said(SHOP, '/status')).not.toContain('Model:');
    expect(await said(OWNER, '/status')).toContain('Model:');
    await said(SHOP, 'about the files');
    const guests = JSON.stringify(model.requests.at(-1)?.body.messages);
    await said(OWNER, 'about the files');
    const owners = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(guests).not.toContain('MEMORY-CANARY');
    expect(owners).toContain('MEMORY-CANARY');
  });

  it('[G05] receives an approval request in the answer, and /approve runs the call and reports the result', async () => {
    const question = await streamed(OWNER, 'note it', { 'X-Parley-Conversation': 'notes' });
    expect(question.errors).toEqual([]);
    const code = /`\/approve (\w+)`/.exec(question.text)?.[1];
    const approved = await generated(OWNER, `/approve ${code}`, {
      'X-Parley-Conversation': 'notes',
    });
    expect(approved.text).toMatch(/I will note it\.[\s\S]*It is lost\.$/);
    const guest = await generated(SHOP, 'note it', { 'X-Parley-Conversation': 'notes' });
    expect(guest.text).not.toContain('/approve');
  });

  it('[G05] [F09] can approve a call with a plain yes, and gets an answer to a message after /new', async () => {
    const place = { 'X-Parley-Conversation': 'words' };
    await generated(OWNER, 'note it', place);
    const approved = await generated(OWNER, 'Yes!', place);
    expect(approved.text).toMatch(/Allowed: `?write`?[\s\S]*It is lost\.$/);
    const fresh = await generated(OWNER, '/new about the files', place);
    expect(fresh.text).not.toBe('');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).toContain('about the files');
    expect(JSON.stringify(model.requests.at(-1)?.body.messages)).not.toContain('note it');
  });

  it('[D08] [U03] has its conversations listed on the page and in /why', async () => {
    const { get } = createWebClient(parley);
    expect((await get('/api/conversations/list')).body).toContain('api:default:shop');
    const why = await runCommand(['--data', folder.path, 'why', 'order-4711']);
    expect(why.out).toContain('sent with a client’s token');
  });

  it('[D04] receives an error for a failed turn', async () => {
    model.fault({ kind: 'status', status: 401 }, 5);
    const answer = await post(SHOP, user('does it work'));
    model.clearFaults();
    expect(answer).toMatchObject({ status: 503, error: { code: 'turn_failed' } });
  });

  it('[D01] [D04] receives one answer when it repeats a request after a kill -9', async () => {
    const slow = held.hold('killed');
    const key = { 'Idempotency-Key': 'killed-1' };
    const cut = generated(SHOP, 'killed', key).catch(() => 'cut');
    await slow.asked;
    await parley.discard();
    expect(await cut).toBe('cut');
    parley = await startParleyInProcess(folder.path);
    slow.release();
    const again = await Promise.all([
      generated(SHOP, 'killed', key),
      generated(SHOP, 'killed', key),
    ]);
    expect(again.map(({ text }) => text)).toEqual(['You said: killed', 'You said: killed']);
    const why = await runCommand(['--data', folder.path, 'why', 'killed-1', '--json']);
    expect(why.code).toBe(0);
    const next = await generated(SHOP, 'still there');
    expect(next.text).toBe('You said: still there');
    const past = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(past.match(/You said: killed/g)).toHaveLength(1);
  });
});
