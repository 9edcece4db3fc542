import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createFailureResponse,
  createJsonResponse,
  type HttpResponse,
  sleep,
  writeResponse,
} from '../loopback.ts';
import type { RestFault, RestFaults } from './faults.ts';
import { createRateLimitedVerdict, type LimitVerdict, type RateLimiter } from './rate-limits.ts';
import { type ParsedBody, Refusal, RestCall, readBody } from './request.ts';
import { matchRoute, type RouteMatch } from './routes.ts';
import type { RouteContext } from './scene.ts';
import type { LostResponse } from './transcript.ts';

/** A response, with Discord's error code for the transcript if the call was refused. */
type RestResponse = HttpResponse & { readonly code?: number };

/** Answers `/api/v10/…` and records every call in the transcript. */
export class RestServer {
  readonly #scene: RouteContext;
  readonly #faults: RestFaults;
  readonly #limiter: RateLimiter;

  constructor(scene: RouteContext, faults: RestFaults, limiter: RateLimiter) {
    this.#scene = scene;
    this.#faults = faults;
    this.#limiter = limiter;
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, path] = /^\/api\/v10(\/.*)$/.exec(url.pathname) ?? [];
    if (path === undefined) {
      return writeResponse(
        response,
        toRefusalResponse(new Refusal(400, 50041, 'Invalid API version provided')),
      );
    }
    const method = request.method ?? 'GET';
    const name = `${method} ${path}`;
    const match = matchRoute(method, path);
    const content = await readBody(request).catch((error: unknown) => error);
    if (match === undefined) {
      return this.#finish(
        name,
        undefined,
        response,
        toRefusalResponse(new Refusal(404, 0, '404: Not Found')),
      );
    }
    if (!isBody(content)) return this.#finish(name, undefined, response, toErrorResponse(content));
    const call = new RestCall(match.params, url.searchParams, content);
    if (!this.#knows(request, match)) {
      return this.#finish(
        name,
        call,
        response,
        toRefusalResponse(new Refusal(401, 0, '401: Unauthorized')),
      );
    }
    await this.#run(name, match, call, response);
  }

  async #run(
    name: string,
    match: RouteMatch,
    call: RestCall,
    response: ServerResponse,
  ): Promise<void> {
    const fault = this.#faults.takeFor(name, match.params.get('channel'));
    const effective = fault === undefined || fault.after === true || fault.kind === 'delay';
    if (fault?.kind === 'delay') await sleep(fault.ms, response);
    const verdict = this.#limiter.take(match.route, getMajorParameter(match));
    const own = verdict.retryAfterMs !== undefined ? toRateLimitResponse(verdict) : undefined;
    const answer = own ?? (effective ? await this.#answer(match, call) : undefined);
    const outcome = fault === undefined ? 'as usual' : toFaultOutcome(fault);
    const final = outcome === 'as usual' ? answer : outcome;
    if (final === undefined) throw new Error('A call without a fault has a response');
    if (typeof final === 'string') this.#finish(name, call, response, final);
    else
      this.#finish(name, call, response, {
        ...final,
        headers: { ...verdict.headers, ...final.headers },
      });
  }

  async #answer({ handler }: RouteMatch, call: RestCall): Promise<RestResponse> {
    try {
      const body = await handler(this.#scene, call);
      if (body === undefined) return { status: 204, type: 'text/html', body: '' };
      return createJsonResponse(200, this.#scene.world.asSent(body));
    } catch (error) {
      return toErrorResponse(error);
    }
  }

  #knows(request: IncomingMessage, { route }: RouteMatch): boolean {
    if (route.includes('/:token')) return true;
    return request.headers.authorization === `Bot ${this.#scene.gateway.token}`;
  }

  #finish(
    name: string,
    call: RestCall | undefined,
    response: ServerResponse,
    final: RestResponse | LostResponse,
  ): void {
    const answered = typeof final === 'object';
    this.#scene.world.transcript.record({
      call: name,
      body: call?.body,
      outcome: answered ? final.status : final,
      ...(answered && final.code !== undefined ? { code: final.code } : {}),
    });
    if (final === 'reset') response.socket?.resetAndDestroy();
    else if (final === 'hang-up') response.socket?.destroy();
    else if (answered) writeResponse(response, final);
  }
}

function toFaultOutcome(fault: RestFault): RestResponse | LostResponse | 'as usual' {
  switch (fault.kind) {
    case 'status': {
      const body = fault.body ?? `<html><h1>${fault.status}</h1></html>`;
      return { status: fault.status, type: 'text/html', body };
    }
    case 'refuse':
      return toRefusalResponse(new Refusal(fault.status, fault.code, fault.message));
    case 'rate-limit':
      return toRateLimitResponse(
        createRateLimitedVerdict(fault.retryAfterMs, fault.global ?? false, {}),
      );
    case 'garbage':
      return { status: 200, type: 'application/json', body: '{"id":"12' };
    case 'delay':
      return 'as usual';
    default:
      return fault.kind;
  }
}

function toRateLimitResponse({
  retryAfterMs = 0,
  global = false,
  headers,
}: LimitVerdict): RestResponse {
  const body = {
    message: 'You are being rate limited.',
    retry_after: retryAfterMs / 1000,
    global,
  };
  return { ...createJsonResponse(429, body), headers };
}

function getMajorParameter({ params }: RouteMatch): string {
  return params.get('channel') ?? params.get('guild') ?? params.get('token') ?? '';
}

function isBody(value: unknown): value is ParsedBody {
  return typeof value === 'object' && value !== null && 'files' in value;
}

function toErrorResponse(error: unknown): RestResponse {
  return error instanceof Refusal ? toRefusalResponse(error) : createFailureResponse(error);
}

function toRefusalResponse({ status, code, message, errors }: Refusal): RestResponse {
  return { ...createJsonResponse(status, { message, code, ...(errors && { errors }) }), code };
}
