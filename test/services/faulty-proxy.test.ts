import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

describe('a proxy between a client and a server', () => {
  let server: Server;
  let proxy: FaultyProxy;
  const atServer = new Set<Socket>();
  const clients: Socket[] = [];
  beforeAll(async () => {
    // Echoes everything it receives.
    server = createServer({ allowHalfOpen: true }, (socket) => {
      atServer.add(socket);
      socket.on('close', () => atServer.delete(socket)).on('error', () => undefined);
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    proxy = await startFaultyProxy(`tcp://127.0.0.1:${address.port}`);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await proxy.cut();
    await proxy.restore();
  });
  afterAll(async () => {
    await proxy.close();
    server.close();
  });

  const open = async () => {
    const { hostname, port } = new URL(proxy.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    clients.push(socket);
    const seen = { text: '', end: '' };
    socket.on('data', (piece) => {
      seen.text += piece;
    });
    socket.on('error', (error) => {
      seen.end = 'code' in error ? String(error.code) : error.message;
    });
    socket.on('end', () => {
      seen.end ||= 'end';
    });
    await once(socket, 'connect');
    return { socket, seen };
  };
  const echo = async ({ socket, seen }: Awaited<ReturnType<typeof open>>, text: string) => {
    socket.write(text);
    await expect.poll(() => seen.text).toContain(text);
  };

  it('delays each piece and keeps the order', async () => {
    const one = await open();
    proxy.delay(100);
    const before = performance.now();
    one.socket.write('first ');
    await sleep(20);
    await echo(one, 'second');
    expect(performance.now() - before).toBeGreaterThan(100);
    expect(one.seen.text).toBe('first second');
  });

  it('silences open connections permanently, while new ones work', async () => {
    const old = await open();
    await echo(old, 'before');
    proxy.swallow('open');
    old.socket.write('lost');
    await echo(await open(), 'new');
    await proxy.restore();
    old.socket.end('lost, too');
    await sleep(50);
    expect(old.seen).toEqual({ text: 'before', end: '' });
    expect([...atServer].filter((socket) => !socket.readableEnded)).toHaveLength(2);
  });

  it('accepts new connections without answering, while open ones work', async () => {
    const old = await open();
    await echo(old, 'before');
    proxy.swallow('new');
    const late = await open();
    late.socket.write('hello?');
    await echo(old, ' after');
    expect(late.seen).toEqual({ text: '', end: '' });
  });

  it('loses the bytes of one direction only', async () => {
    const one = await open();
    await echo(one, 'before');
    proxy.swallow('all', 'to-client');
    one.socket.write('x');
    await sleep(50);
    expect(one.seen.text).toBe('before');
    expect([...atServer].at(-1)?.bytesRead).toBe('beforex'.length);
  });

  it('holds bytes back until it is restored', async () => {
    const one = await open();
    proxy.hold();
    one.socket.write('late ');
    one.socket.write('words');
    await sleep(50);
    expect(one.seen.text).toBe('');
    await proxy.restore();
    await echo(one, '.');
    expect(one.seen.text).toBe('late words.');
  });

  it('half-closes, resets, and refuses', async () => {
    const half = await open();
    await echo(half, 'before');
    proxy.halfClose('to-client');
    await expect.poll(() => half.seen.end).toBe('end');
    const broken = await open();
    await echo(broken, 'before');
    proxy.reset();
    await expect.poll(() => broken.seen.end).toBe('ECONNRESET');
    await proxy.cut();
    await expect(open()).rejects.toThrow('ECONNREFUSED');
    await proxy.restore();
    await echo(await open(), 'again');
  });
});
