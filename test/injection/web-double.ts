import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** Pages that strangers have put on the web, and the requests for them. */
export interface WebDouble {
  readonly outside: number;
  readonly inside: number;
  /** For the settings: a search engine whose results strangers have written. */
  readonly searchUrl: string;
  /** Serves plain text at a path, such as `/tea`. */
  page(path: string, text: string): void;
  /** Serves an HTML page at a path. */
  site(path: string, html: string): void;
  /** The search result for queries that contain `key`. */
  hit(key: string, snippet: string): void;
  /** Requested paths with the data in them, decoded, in order. */
  readonly asked: readonly string[];
  /** Requests to addresses that must stay unreachable. */
  readonly askedInside: readonly string[];
  close(): Promise<void>;
}

/** Starts the servers of the small internet, and a search engine. */
export async function startWebDouble(): Promise<WebDouble> {
  const pages = new Map<string, WebPage>();
  const hits = new Map<string, string>();
  const asked: string[] = [];
  const askedInside: string[] = [];
  const outside = await listenOnLoopback((request, response) => {
    const url = new URL(request.url ?? '/', 'http://outside');
    asked.push(decodeURIComponent(`${url.pathname}${url.search}`.replaceAll('+', ' ')));
    const to = url.searchParams.get('go');
    if (to !== null) response.writeHead(302, { location: to }).end();
    else sendPage(response, pages.get(url.pathname));
  });
  const inside = await listenOnLoopback((request, response) => {
    askedInside.push(`${request.headers.host}${request.url}`);
    sendPage(response, { type: 'text/plain', text: 'the keys of this machine' });
  });
  const engine = await listenOnLoopback((request, response) => {
    const words = new URL(request.url ?? '/', 'http://engine').searchParams.get('q') ?? '';
    const found = [...hits].filter(([key]) => words.includes(key));
    const results = found.map(([key, content]) => ({
      url: `http://pages.example.com/${key}`,
      title: key,
      content,
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ results }));
  });
  return {
    outside: outside.port,
    inside: inside.port,
    searchUrl: `http://127.0.0.1:${engine.port}`,
    page: (path, text) => void pages.set(path, { type: 'text/plain', text }),
    site(path, html) {
      const text = `<!doctype html><title>Tea</title><body><article>${html}</article></body>`;
      pages.set(path, { type: 'text/html', text });
    },
    hit: (key, snippet) => void hits.set(key, snippet),
    asked,
    askedInside,
    close: async () => {
      await Promise.all([outside, inside, engine].map(({ server }) => closeServer(server)));
    },
  };
}

type AnswerRequest = (request: IncomingMessage, response: ServerResponse) => void;

async function listenOnLoopback(
  answer: AnswerRequest,
): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not listening on a port');
  return { server, port: address.port };
}

interface WebPage {
  readonly type: string;
  readonly text: string;
}

const THANKS: WebPage = { type: 'text/plain', text: 'Thank you.' };

function sendPage(response: ServerResponse, { type, text }: WebPage = THANKS): void {
  response.writeHead(200, { 'content-type': `${type}; charset=utf-8` });
  response.end(text);
}

async function closeServer(server: Server): Promise<void> {
  const end = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await end;
}
