import { createServer, type RequestListener, setGlobalProxyFromEnv } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { OutboundPart } from '@parley/core';
import { createSelfSignedCertificate } from '@parley/simulators/whatsapp';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { readFailure } from '../adapter-core.ts';
import { createPart } from './adapter-parts.ts';
import { endScenes, startTelegramScene } from './adapter-scene.ts';

const ANN = 501;
const BO = 502;
/** The time limit of a handshake that does not complete, in ms. */
const GIVE_UP_MS = 1_000;

const servers: Server[] = [];
let requests = 0;
afterEach(async () => {
  requests = 0;
  await endScenes();
  await Promise.all(servers.splice(0).map((server) => server[Symbol.asyncDispose]()));
});

const count: RequestListener = (_request, response) => {
  requests += 1;
  response.end();
};

/** Opens a port and returns its URL. */
async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server has no port.');
  servers.push(server);
  return `127.0.0.1:${address.port}`;
}

async function closedPort(): Promise<string> {
  const address = await listening(createServer());
  await servers.pop()?.[Symbol.asyncDispose]();
  return address;
}

function selfSigned(): Server {
  const { certificate: cert, privateKey: key } = createSelfSignedCertificate(Date.now());
  return createTlsServer({ cert, key }, count);
}

describe('a part that Telegram cannot have received', () => {
  it.each<[what: string, serve: () => Promise<string>]>([
    ['nobody listens', async () => `http://${await closedPort()}`],
    ['the name is not found', async () => 'http://nowhere.invalid'],
    ['the certificate is not trusted', async () => `https://${await listening(selfSigned())}`],
    ['the server speaks no TLS', async () => `https://${await listening(createServer(count))}`],
    [
      'the handshake is cut off',
      async () =>
        `https://${await listening(createTcpServer((socket) => socket.resetAndDestroy()))}`,
    ],
    [
      'the handshake does not end',
      async () =>
        `https://${await listening(createTcpServer((socket) => socket.on('error', () => {}).resume()))}`,
    ],
  ])('[D04] is sent again without a notice: %s', async (_what, serve) => {
    const apiRoot = await serve();
    const { adapter } = await startTelegramScene({ settings: () => ({ apiRoot }) });
    const sending = adapter.send(createPart(ANN, 'a'), AbortSignal.timeout(GIVE_UP_MS));
    expect(await readFailure(sending)).toEqual({ kind: 'transient', untried: true });
    expect(requests).toBe(0);
  });

  it('[D04] is known to be unsent until the first byte is written, on new and on kept connections', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    const before: number[] = [];
    const started = () => void before.push(double.calls('sendMessage').length);
    for (let sends = 0; sends < 2; sends += 1)
      await adapter.send(createPart(ANN, 'a'), AbortSignal.timeout(GIVE_UP_MS), started);
    expect(before).toEqual([0, 1]);
  });

  it('[D04] is found in its chat after a crash if it arrived, without changing the chat', async () => {
    const { double, adapter } = await startTelegramScene();
    const question = double.say({ chat: ANN, text: 'q' });
    double.say({ chat: BO, text: 'another question' });
    const buttons = [{ label: 'Yes', data: 'yes' }];
    const pressed = createPart(ANN, 'with a button', { buttons });
    const find = async (sought: OutboundPart, messageId: number | string | undefined) =>
      adapter.findSent?.(
        sought,
        {
          known: [{ chatId: String(ANN), messageId: String(messageId), direction: 'in', at: 0 }],
          uncertainAt: null,
        },
        AbortSignal.timeout(GIVE_UP_MS),
      );
    expect(await find(createPart(ANN, 'a'), question.message_id)).toBeUndefined();
    const first = await adapter.send(createPart(ANN, 'a'), AbortSignal.timeout(GIVE_UP_MS));
    expect(await find(createPart(ANN, 'a'), question.message_id)).toBe(first.platformMessageId);
    const second = await adapter.send(pressed, AbortSignal.timeout(GIVE_UP_MS));
    expect(await find(pressed, first.platformMessageId)).toBe(second.platformMessageId);
    expect(double.conversation(ANN).at(-1)?.buttons).toEqual(['Yes']);
    double.fault({ kind: 'refuse', code: 429, description: 'Too Many Requests' });
    expect(await find(createPart(ANN, 'a'), question.message_id)).toBeUndefined();
  });

  it('[D04] is distinguished from a part that a proxy has passed on', async () => {
    const { certificate, privateKey: key } = createSelfSignedCertificate(Date.now());
    const trusted = getCACertificates('default');
    const telegram = await listening(
      createTlsServer({ cert: certificate, key }, (request) => {
        requests += 1;
        request.socket.destroy();
      }),
    );
    let passes = false;
    const proxy = createServer().on('connect', (_request, client: Socket) => {
      if (!passes) return client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      const { hostname, port } = new URL(`https://${telegram}`);
      const onward = connect(Number(port), hostname, () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        onward.pipe(client).pipe(onward);
      });
      for (const socket of [client, onward]) socket.on('error', () => {});
    });
    const restore = setGlobalProxyFromEnv({ https_proxy: `http://${await listening(proxy)}` });
    setDefaultCACertificates([...trusted, certificate]);
    onTestFinished(() => {
      restore();
      setDefaultCACertificates(trusted);
    });
    const { adapter } = await startTelegramScene({
      settings: () => ({ apiRoot: `https://${telegram}` }),
    });
    const send = () =>
      readFailure(adapter.send(createPart(ANN, 'a'), AbortSignal.timeout(GIVE_UP_MS)));
    expect([await send(), requests]).toEqual([{ kind: 'transient', untried: true }, 0]);
    passes = true;
    expect([await send(), requests]).toEqual([{ kind: 'unknown-outcome' }, 1]);
  });

  it('[D04] is distinguished from a part on a kept connection, which Telegram may have received', async () => {
    const { double, adapter } = await startTelegramScene();
    double.say({ chat: ANN, text: 'q' });
    await adapter.send(createPart(ANN, 'first'), AbortSignal.timeout(GIVE_UP_MS));
    double.fault({ kind: 'reset', after: true });
    const sending = adapter.send(createPart(ANN, 'second'), AbortSignal.timeout(GIVE_UP_MS));
    expect(await readFailure(sending)).toEqual({ kind: 'unknown-outcome' });
    expect(double.conversation(ANN).at(-1)?.text).toBe('second');
  });
});
