import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transcribe } from './transcribe.ts';

const OGG = Uint8Array.from([...Buffer.from('OggS'), 0, 2, 255, 39]);

let server: Server;
let baseUrl: string;
let answers: { readonly status: number; readonly body: string }[];
let asked: {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: FormData;
}[];
beforeEach(async () => {
  answers = [];
  asked = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const type = request.headers['content-type'] ?? '';
    const form = await new Response(Buffer.concat(chunks), {
      headers: { 'content-type': type },
    }).formData();
    asked.push({ url: request.url ?? '', headers: request.headers, form });
    const { status, body } = answers.shift() ?? { status: 200, body: '{"text":" Hello. "}' };
    response.writeHead(status).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1/`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function listen(bytes = OGG, signal = new AbortController().signal) {
  const settings = { baseUrl, apiKey: 'sk-secret', model: 'whisper' };
  return transcribe(bytes, settings, { fetch, signal });
}

describe('transcribing a voice message with a speech service', () => {
  it('[F10] sends a request that follows OpenAI’s protocol and contains nothing chosen by the sender', async () => {
    expect(await listen()).toEqual({ kind: 'text', text: 'Hello.' });
    const { url, headers, form } = asked[0] ?? {};
    expect(url).toBe('/v1/audio/transcriptions');
    expect(headers?.authorization).toBe('Bearer sk-secret');
    expect([form?.get('model'), form?.get('response_format')]).toEqual(['whisper', 'json']);
    const file = form?.get('file');
    if (!(file instanceof File)) throw new Error('no file was sent');
    expect([file.name, file.type]).toEqual(['speech.ogg', 'audio/ogg']);
    expect(new Uint8Array(await file.arrayBuffer())).toEqual(OGG);
  });

  it.each([
    ['the key is wrong', 401, '{}', /refused the key.*media.transcription.apiKey/],
    ['there is no such address', 404, 'nope', /check media.transcription/],
    ['the sound is refused', 400, 'bad sound', /status 400: bad sound/],
    ['the answer is no JSON', 200, '<html>', /without a transcript/],
    ['the answer has no text', 200, '{"words":[]}', /without a transcript/],
    ['the answer is endless', 200, `{"text":"${'x'.repeat(2_000_000)}"}`, /without a transcript/],
  ])(
    '[F10] reports in plain language that %s, after a single request',
    async (_case, status, body, detail) => {
      answers.push({ status, body });
      expect(await listen()).toEqual({
        kind: 'refused',
        reason: 'my speech service did not answer',
        detail: expect.stringMatching(detail),
      });
      expect(asked).toHaveLength(1);
    },
  );

  it('[F10] retries once if the service is overloaded', async () => {
    answers.push({ status: 503, body: '' });
    expect(await listen()).toMatchObject({ kind: 'text' });
    answers.push({ status: 500, body: 'x' }, { status: 429, body: 'slow down' });
    expect(await listen()).toMatchObject({ detail: expect.stringContaining('429: slow down') });
    expect(asked).toHaveLength(4);
  });

  it('[F10] reports the address at which a service cannot be reached, without the key', async () => {
    baseUrl = 'http://127.0.0.1:1/v1';
    const said = await listen();
    expect(said).toMatchObject({ detail: expect.stringContaining('at 127.0.0.1:1 cannot be') });
    expect(JSON.stringify(said)).not.toContain('secret');
  });

  it('[F10] does not send a request if the turn is stopped or the file is not a recording', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await listen(OGG, stop.signal)).toMatchObject({ kind: 'refused' });
    expect(await listen(Uint8Array.from([1, 2, 3]))).toMatchObject({
      reason: 'its recording format is not supported',
    });
    expect(asked).toEqual([]);
  });
});
