import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, createCaller } from './calls.ts';
import { toCallFailure } from './failures.ts';
import { openUpload } from './files.ts';

const TOKEN = '1:a-token';
const REFUSAL = '{"ok":false,"error_code":413,"description":"no"}';
const never = (): CallOptions => ({ signal: new AbortController().signal });
const ends: (() => void)[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-calls-'));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A caller connected to a test server that responds as given. */
function callsTo(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  ends.push(() => server.closeAllConnections());
  return callsAt(server);
}

async function callsAt(server: Server) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(() => server.close());
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return createCaller({ token: TOKEN, apiRoot: `http://127.0.0.1:${port}` });
}

/** A caller connected to a test server that parses forms, and the form fields of each request. */
async function callsWithForms() {
  const forms: FormData[] = [];
  const call = await callsTo(async (request, response) => {
    const body = await buffer(request);
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    forms.push(await new Response(body, { headers }).formData());
    response.end('{"ok":true,"result":true}');
  });
  return { forms, call };
}

async function fileOf(name: string, content: string | Uint8Array): Promise<File> {
  const path = join(folder, 'file');
  await writeFile(path, content);
  const mimeType = 'text/plain';
  return openUpload({ kind: 'document', name, mimeType, path }, 100 * 1024 * 1024);
}

describe('a call with a file', () => {
  it('[F10] sends every object field along with the file, and omits undefined ones', async () => {
    const { forms, call } = await callsWithForms();
    const beside = {
      chat_id: -5,
      caption: 'naïve 图',
      has_spoiler: true,
      reply_parameters: { message_id: 7 },
      reply_markup: { inline_keyboard: [[{ text: 'Ok', callback_data: '/ok' }]] },
      caption_entities: [{ type: 'bold', offset: 0, length: 5 }],
    };
    const document = await fileOf('a.txt', 'words');
    await call('sendDocument', { ...beside, thumbnail: undefined, document }, never());
    const { document: sent, ...fields } = Object.fromEntries(forms[0] ?? []);
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    const expected = Object.entries(beside).map(([name, value]) => [name, text(value)]);
    expect(fields).toEqual(Object.fromEntries(expected));
    expect(await (sent as File).text()).toBe('words');
  });

  it.each([
    ['a quote', 'a"b.txt', 'a_b.txt'],
    [
      'a line end and a header',
      'a\r\ncontent-type: text/html\r\n\r\n.txt',
      'a__content-type: text_html____.txt',
    ],
    ['a folder', '../../etc/passwd', '.._.._etc_passwd'],
    ['other writing', 'résumé 图 😀.txt', 'résumé 图 😀.txt'],
  ])(
    '[F10] escapes the file name so that it stays inside its field: %s',
    async (_what, name, expected) => {
      const { forms, call } = await callsWithForms();
      await call('sendDocument', { chat_id: 1, document: await fileOf(name, 'x') }, never());
      expect([...(forms[0]?.keys() ?? [])]).toEqual(['chat_id', 'document']);
      expect(forms[0]?.get('document')).toMatchObject({ name: expected });
    },
  );

  it('[F10] reads the file from the beginning when it is sent again', async () => {
    const { forms, call } = await callsWithForms();
    const document = await fileOf('a.txt', 'all of it');
    for (let nth = 0; nth < 2; nth += 1) await call('sendDocument', { document }, never());
    const texts = forms.map((form) => (form.get('document') as File).text());
    expect(await Promise.all(texts)).toEqual(['all of it', 'all of it']);
  });

  it('[D13] completes when the response arrives before the whole request is sent', async () => {
    const size = 40 * 1024 * 1024;
    let arrived = 0;
    const gone = Promise.withResolvers<void>();
    // Node's own HTTP server would close the connection.
    const call = await callsAt(
      createTcpServer((socket) => {
        socket.once('data', () =>
          socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${REFUSAL.length}\r\n\r\n${REFUSAL}`),
        );
        socket.on('data', (chunk) => {
          arrived += chunk.length;
        });
        socket.on('error', () => {}).on('close', () => gone.resolve());
      }),
    );
    const document = await fileOf('large.bin', new Uint8Array(size));
    const failure = await call('sendDocument', { document }, never()).catch(toCallFailure);
    expect(failure).toMatchObject({ kind: 'refused', code: 413 });
    await gone.promise;
    expect(arrived).toBeLessThan(size);
  });

  it('[D04] is not sent when the file changes beforehand, and has an unknown outcome when it changes during the upload', async () => {
    const call = await callsTo((request) => {
      request.once(
        'data',
        () => void fileOf('large.bin', 'short now').then(() => request.resume()),
      );
    });
    const changed = await fileOf('a.txt', 'before');
    const large = await fileOf('large.bin', new Uint8Array(40 * 1024 * 1024));
    const send = (document: File) =>
      call('sendDocument', { document }, never()).catch(toCallFailure);
    expect(await send(changed)).toMatchObject({ kind: 'not-sent' });
    expect(await send(large)).toMatchObject({ kind: 'unknown' });
  });
});

describe('a call', () => {
  it.each([
    [
      'a refusal',
      '{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}',
      'refused',
    ],
    ['a page', '<html>welcome</html>', 'unknown'],
    ['half an answer', '{"ok":true,"resu', 'unknown'],
  ])('[D04] reports an unknown outcome when it is answered by %s', async (_what, body, kind) => {
    const call = await callsTo(
      (request, response) => void request.resume().on('end', () => response.end(body)),
    );
    const failure = await call('sendMessage', {}, never()).catch(toCallFailure);
    expect(failure).toMatchObject({ kind });
  });

  it.each<[string, number, string, object]>([
    ['an HTML page with status 413', 413, '<html>413</html>', { kind: 'refused', code: 413 }],
    ['an HTML page with status 429', 429, '<html>429</html>', { kind: 'refused', code: 429 }],
    ['an HTML page with status 404', 404, '<html>404</html>', { kind: 'unknown' }],
    [
      'details in an unexpected form',
      429,
      '{"ok":false,"error_code":429,"description":null,"parameters":{"retry_after":"7","migrate_to_chat_id":-5}}',
      { kind: 'refused', code: 429, migrateTo: '-5' },
    ],
    [
      'no details',
      400,
      '{"ok":false,"error_code":400,"description":"chat not found","parameters":null}',
      { kind: 'refused', code: 400, reason: 'chat not found' },
    ],
  ])(
    '[D04] reports what was not done when it is answered by %s',
    async (_what, status, body, expected) => {
      const call = await callsTo(
        (request, response) =>
          void request.resume().on('end', () => response.writeHead(status).end(body)),
      );
      const failure = await call('sendDocument', {}, never()).catch(toCallFailure);
      expect(failure).toMatchObject(expected);
    },
  );

  it('[D13] stops reading an endless response', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const call = await callsTo((request, response) => {
      request.resume();
      Readable.from(
        (function* () {
          for (;;) yield piece;
        })(),
      ).pipe(response);
      response.on('error', () => {});
    });
    const failure = await call('getUpdates', {}, never()).catch(toCallFailure);
    expect(failure).toEqual({ kind: 'unknown', reason: 'the response is larger than 64 MB' });
  });

  it('[P12] never includes the token in an error', async () => {
    const call = await callsTo((request) => request.socket.destroy());
    const thrown = await call('getMe', {}, never()).catch((error: unknown) => error);
    const { signal } = new AbortController();
    const ended = await call('getMe', {}, { signal, limitMs: 0 }).catch((error: unknown) => error);
    for (const error of [thrown, ended])
      expect(String((error as Error).stack)).not.toContain(TOKEN);
  });

  it('reports the call as sent once the whole request is written, before the response arrives', async () => {
    const order: string[] = [];
    const call = await callsTo((request, response) => {
      request.resume().on('end', () => {
        order.push('arrived');
        setImmediate(() => response.end('{"ok":true,"result":1}'));
      });
    });
    const note = (what: string) => () => void order.push(what);
    const options = { ...never(), onStart: note('start'), onSent: note('sent') };
    await call('sendMessage', { text: 'hi' }, options).then(note('answer'));
    expect(order.toSorted()).toEqual(['answer', 'arrived', 'sent', 'start']);
    expect([order[0], order.at(-1)]).toEqual(['start', 'answer']);
  });
});
