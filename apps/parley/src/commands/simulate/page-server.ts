import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConsoleRoutes } from '@parley/console';
import { reasonOf } from '@parley/core';
import { PlayerAct, type Recording, type Simulator, writeScene } from '@parley/simulators';
import { z } from 'zod';
import { CliError } from '../../data-folder.ts';

// Importing the module would also load Node's `fetch`.
const { createServer } = process.getBuiltinModule('node:http');

/** The web page for a user of the simulated platform. */
export interface PageServer {
  readonly address: string;
  close(): Promise<void>;
}

export interface PageServerOptions {
  readonly port: number;
  readonly token: string;
  readonly simulator: Simulator;
  readonly recording: Recording;
  /** The address of the simulated gateway's own page, with its token. */
  readonly console: string;
}

/** The maximum size of a request, in bytes: enough for a phone picture in base64. */
const LARGEST_ACT_BYTES = 30_000_000;
/**
 * The minimum and maximum intervals (ms) between updates of the simulated world. No event is sent
 * when typing ends, so updates are also sent periodically.
 */
const PACE_MS = 60;
const STILL_MS = 2_000;

const HEADERS = {
  'content-security-policy':
    "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
};

const SignIn = z.strictObject({ token: z.string() });

/**
 * Serves the page on the loopback interface. The page's files do not contain secrets; all other
 * requests require the token.
 */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const page = createConsoleRoutes('/simulate.html');
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    handleRequest(options, page, request, response).catch((error: unknown) => {
      if (response.headersSent) response.end();
      else sendJson(response, 400, { error: formatError(error) });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(createPortTakenError(options.port, error)));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function formatError(error: unknown): string {
  return error instanceof z.ZodError ? z.prettifyError(error) : reasonOf(error);
}

async function handleRequest(
  options: PageServerOptions,
  page: ReturnType<typeof createConsoleRoutes>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { simulator, recording, token } = options;
  const url = new URL(request.url ?? '/', 'http://page');
  const call = `${request.method} ${url.pathname}`;
  if (call === 'GET /' || call.startsWith('GET /page/')) {
    await forwardResponse(await page.request(url.pathname), response);
    return;
  }
  if (call === 'POST /api/sessions') {
    const given = SignIn.safeParse(await readJsonBody(request)).data?.token ?? '';
    if (isSameSecret(given, token)) sendJson(response, 200, { session: token, role: 'owner' });
    else response.writeHead(401).end('This token does not belong to this simulation.');
    return;
  }
  if (!isSameSecret(request.headers.authorization?.replace(/^Bearer /, '') ?? '', token)) {
    sendJson(response, 401, { error: 'This browser is not signed in.' });
    return;
  }
  switch (call) {
    case 'GET /api/world':
      streamWorlds(options, response);
      break;
    case 'POST /api/acts':
      sendJson(response, 200, {
        made: await simulator.act(PlayerAct.parse(await readJsonBody(request))),
      });
      break;
    case 'GET /api/scene':
      response.writeHead(200, { 'content-type': 'application/jsonl' });
      response.end(writeScene(recording.scene()));
      break;
    case 'GET /api/file':
      await sendFile(simulator, url.searchParams, response);
      break;
    default:
      sendJson(response, 404, { error: 'There is no such page.' });
  }
}

/**
 * Streams the state of the simulated world as one JSON object per line. A client that reads slowly
 * skips intermediate states.
 */
function streamWorlds({ simulator, console }: PageServerOptions, response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    timer = undefined;
    if (response.writableNeedDrain) response.once('drain', soon);
    else response.write(`${JSON.stringify({ ...simulator.world(), console })}\n`);
  };
  const soon = (): void => {
    timer ??= setTimeout(send, PACE_MS);
  };
  const still = setInterval(soon, STILL_MS);
  const stop = simulator.watch({ change: soon });
  response.on('close', () => {
    clearTimeout(timer);
    clearInterval(still);
    stop();
  });
  send();
}

async function sendFile(
  simulator: Simulator,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const { chat, message, index } = z
    .object({ chat: z.string(), message: z.string(), index: z.coerce.number().int() })
    .parse(Object.fromEntries(query));
  const file = simulator.file(chat, message, index);
  if (file === undefined) return sendJson(response, 404, { error: 'There is no such file.' });
  const bytes = await file.read();
  // The file type was chosen by a chat user, but the browser cannot run the file, because the
  // policy does not allow scripts from `blob:`.
  response.writeHead(200, { 'content-type': file.type.replaceAll(/[^\w/+.-]/g, '') }).end(bytes);
}

async function forwardResponse(from: Response, to: ServerResponse): Promise<void> {
  to.writeHead(from.status, Object.fromEntries(from.headers));
  to.end(Buffer.from(await from.arrayBuffer()));
}

async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > LARGEST_ACT_BYTES) throw new Error('This is too large; the limit is 20 MB.');
    pieces.push(piece);
  }
  return JSON.parse(Buffer.concat(pieces).toString());
}

function isSameSecret(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function createPortTakenError(port: number, cause: Error): CliError {
  return new CliError(
    'simulate-port',
    `The page cannot be served on port ${port} of this machine (${reasonOf(cause)}). Choose another port with --port, or leave the option out to use any free port.`,
    cause,
  );
}
