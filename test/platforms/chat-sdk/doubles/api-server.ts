import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ChangeNotifier } from '@parley/simulators/telegram';

/** A request to a platform's API. */
export interface ApiCall {
  /** The route template at which faults are aimed, for example `POST /items/:id`. */
  readonly route: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The named segments of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** The body as JSON. */
  readonly json: unknown;
}

/** The response of the API: JSON, or bytes with their type. */
export interface ApiAnswer {
  readonly status: number;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok = (body: unknown): ApiAnswer => ({ status: 200, body });

/** An error response in the platform's format, thrown by the routes. */
export class Refusal extends Error {
  readonly answer: ApiAnswer;

  constructor(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) {
    super(`refused with ${status}`);
    this.answer = { status, body, headers };
  }
}

/** A fault for the next matching call; with `after`, the call takes effect first. */
export type ApiFault = (
  | { readonly kind: 'answer'; readonly answer: ApiAnswer }
  /** Resets the connection instead of responding. */
  | { readonly kind: 'reset' }
  /** Sends the correct response after `ms`. */
  | { readonly kind: 'delay'; readonly ms: number }
) & {
  /** The beginning of the route, for example `POST /items`; by default every route. */
  readonly route?: string;
  readonly where?: (call: ApiCall) => boolean;
  readonly after?: true;
  /** The number of calls that fail; 1 by default. */
  readonly times?: number;
};

type RouteHandler = (call: ApiCall) => ApiAnswer | Promise<ApiAnswer>;

/** The handlers of an API by route; the first segment that starts with a colon is a parameter. */
export type Routes = Readonly<Record<string, RouteHandler>>;

interface CompiledRoute {
  readonly route: string;
  readonly method: string;
  readonly path: RegExp;
  readonly handler: RouteHandler;
}

/** Serves the HTTP API of a double on loopback, records its calls and injects faults. */
export class ApiServer {
  readonly changes: ChangeNotifier;
  readonly calls: ApiCall[] = [];
  readonly #routes: readonly CompiledRoute[];
  readonly #server: Server;
  readonly #refuseUnknown: (call: ApiCall) => ApiAnswer;
  #faults: { readonly fault: ApiFault; left: number }[] = [];

  /** @param unknown handles calls that no route matches */
  constructor(routes: Routes, unknown: (call: ApiCall) => ApiAnswer) {
    const recent = () => this.calls.slice(-10).map(({ route }) => route);
    this.changes = new ChangeNotifier(() => `Its last calls: ${recent().join(', ')}`);
    this.#routes = Object.entries(routes).map(compileRoute);
    this.#refuseUnknown = unknown;
    this.#server = createServer((request, response) => {
      this.#answer(request)
        .then((answer) => {
          if (response.destroyed) return;
          if (answer === 'reset') response.socket?.resetAndDestroy();
          else {
            const { status, headers, type = 'application/json', body } = answer;
            const bytes = Buffer.isBuffer(body) ? body : Buffer.from(formatBody(body));
            const length = { 'content-length': String(bytes.length) };
            response.writeHead(status, { ...length, 'content-type': type, ...headers }).end(bytes);
          }
        })
        // No platform sends this response, because the double itself failed.
        .catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${this.port}`;
  }

  get port(): number {
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) throw new Error('The double is not listening.');
    return address.port;
  }

  fault(fault: ApiFault): void {
    this.#faults.push({ fault, left: fault.times ?? 1 });
  }

  /** Drops every connection, like a network failure. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage): Promise<ApiAnswer | 'reset'> {
    const url = new URL(request.url ?? '/', 'http://double');
    // A client that gives up aborts its request.
    const chunks = await request.toArray().catch(() => null);
    if (chunks === null) return 'reset';
    const body = Buffer.concat(chunks);
    const found = this.#routes.flatMap((route) => {
      const match = request.method === route.method ? route.path.exec(url.pathname) : null;
      return match === null ? [] : [{ route, params: decodeGroups(match.groups) }];
    })[0];
    const route = found?.route.route ?? `${request.method} ${url.pathname}`;
    const params = found?.params ?? {};
    const call = { route, url, headers: request.headers, body, params, json: parseBody(body) };
    const fault = this.#take(call);
    if (fault?.kind === 'delay') await sleep(fault.ms);
    const takesEffect = fault === undefined || fault.kind === 'delay' || fault.after === true;
    const handler = found?.route.handler ?? this.#refuseUnknown;
    const answer = takesEffect ? await runHandler(handler, call) : undefined;
    this.calls.push(call);
    this.changes.changed();
    if (fault?.kind === 'reset') return 'reset';
    if (fault?.kind === 'answer') return fault.answer;
    return answer ?? this.#refuseUnknown(call);
  }

  #take(call: ApiCall): ApiFault | undefined {
    const armed = this.#faults.find(
      ({ fault: { route = '', where = () => true } }) =>
        call.route.startsWith(route) && where(call),
    );
    if (armed === undefined) return undefined;
    armed.left -= 1;
    this.#faults = this.#faults.filter(({ left }) => left > 0);
    return armed.fault;
  }
}

async function runHandler(handler: RouteHandler, call: ApiCall): Promise<ApiAnswer> {
  try {
    return await handler(call);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function compileRoute([route, handler]: [string, RouteHandler]): CompiledRoute {
  const [method = '', path = ''] = route.split(' ');
  const segments = path.split('/').map((segment) => {
    const [, name, rest = ''] = /^:(\w+)(.*)$/.exec(segment) ?? [];
    return name === undefined ? RegExp.escape(segment) : `(?<${name}>[^/]+)${RegExp.escape(rest)}`;
  });
  return { route, method, path: new RegExp(`^${segments.join('/')}/?$`), handler };
}

function decodeGroups(groups: Readonly<Record<string, string>> | undefined) {
  const entries = Object.entries(groups ?? {});
  return Object.fromEntries(entries.map(([name, value]) => [name, decodeURIComponent(value)]));
}

function parseBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function formatBody(body: unknown): string {
  if (body === undefined) return '';
  return typeof body === 'string' ? body : JSON.stringify(body);
}
