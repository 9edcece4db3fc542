import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ModelDouble, startModelDouble } from './index.ts';

let double: ModelDouble;

beforeEach(async () => {
  double = await startModelDouble();
});
afterEach(() => double.close());

const user = (content: string) => ({ role: 'user', content });

function chat(body: object, headers: Record<string, string> = {}): Promise<Response> {
  const messages = [user('hello')];
  return fetch(`${double.baseUrl}/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ model: 'm', messages, ...body }),
  });
}

function control(method: string, action: string, body?: object): Promise<Response> {
  return fetch(new URL(`/control/${action}`, double.baseUrl), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

describe('the model double', () => {
  it("answers a request without streaming by repeating the user's last text", async () => {
    const answer = await (
      await chat({ messages: [user('a'), { role: 'assistant', content: 'b' }, user('**c**')] })
    ).json();
    expect(answer).toMatchObject({
      object: 'chat.completion',
      choices: [
        { message: { role: 'assistant', content: 'You said: **c**' }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 4, total_tokens: 6 },
    });
  });

  it('streams server-sent events that end with the token counts and [DONE]', async () => {
    const response = await chat({ stream: true, stream_options: { include_usage: true } });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = (await response.text()).trim().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.at(-2)).toContain('"usage":{"prompt_tokens":2');
    expect(events.at(-3)).toContain('"finish_reason":"stop"');
  });

  it('pauses once after a piece, until the test resumes it', async () => {
    const goOn = double.pauseBehind('two');
    const reply = { text: ['one ', 'two ', 'three'] };
    double.queue(reply, reply);
    const body = (await chat({ stream: true })).body?.pipeThrough(new TextDecoderStream());
    const reader = body?.getReader();
    let read = '';
    while (!read.includes('two')) read += (await reader?.read())?.value ?? '';
    // The second answer completes while the first one is paused.
    expect(await (await chat({ stream: true })).text()).toContain('three');
    expect(read).not.toContain('three');
    goOn();
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
      read += next.value;
    expect(read.trim().endsWith('[DONE]')).toBe(true);
    expect(read).toContain('three');
  });

  it('sends tool calls in fragments', async () => {
    double.queue({ toolCalls: [{ name: 'read', arguments: { path: 'a.md' } }] });
    const text = await (await chat({ stream: true })).text();
    expect(text).toContain('"function":{"name":"read","arguments":""}');
    expect(text).toContain('"finish_reason":"tool_calls"');
    const fragments = [...text.matchAll(/"function":(\{"arguments":.*?\})\}\]/g)].map(
      ([, json = '']) => JSON.parse(json).arguments,
    );
    expect(fragments.length).toBeGreaterThan(1);
    expect(fragments.join('')).toBe('{"path":"a.md"}');
  });

  it('refuses what a strict chat template refuses', async () => {
    const refused = [
      [user('a'), user('b')],
      [user('a'), { role: 'system', content: 's' }],
      [{ role: 'system', content: 's' }, { role: 'system', content: 't' }, user('a')],
      [{ role: 'system', content: 's' }],
      [user(' ')],
    ];
    for (const messages of refused) expect((await chat({ messages })).status).toBe(400);
    expect((await chat({ messages: [] })).status).toBe(400);
  });

  it('requires its key when it has one', async () => {
    await double.close();
    double = await startModelDouble({ apiKey: 'secret' });
    expect((await chat({})).status).toBe(401);
    expect((await chat({}, { authorization: 'Bearer secret' })).status).toBe(200);
  });

  it('can be controlled from another process', async () => {
    await control('POST', 'queue', { replies: ['first'] });
    await control('POST', 'fault', { fault: { kind: 'status', status: 503 } });
    expect((await chat({})).status).toBe(503);
    expect((await chat({})).status).toBe(200);
    expect(await (await control('GET', 'requests?after=1')).json()).toMatchObject([
      { seq: 2, body: { messages: [user('hello')] } },
    ]);
    expect(await (await control('GET', 'status')).json()).toEqual({ total: 2, open: 0 });
  });

  it('rejects invalid control calls', async () => {
    expect((await control('POST', 'fault', { fault: { kind: 'explode' } })).status).toBe(400);
    expect((await control('POST', 'nothing')).status).toBe(404);
  });

  it('remembers only the newest requests under a long load', async () => {
    for (let at = 0; at < 2_500; at += 50) {
      const batch = Array.from({ length: 50 }, async () => (await chat({})).arrayBuffer());
      await Promise.all(batch);
    }
    expect(double.total).toBe(2_500);
    expect(double.requests.length).toBeLessThanOrEqual(2_000);
    expect(double.requests.at(-1)?.seq).toBe(2_500);
  });
});
