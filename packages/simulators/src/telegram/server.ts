import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createFailureResponse,
  createJsonResponse,
  type HttpResponse,
  sleep,
  writeResponse,
} from '../loopback.ts';
import type { BotAccount } from './account.ts';
import type { Fault, FaultInjector } from './faults.ts';
import { METHODS } from './methods.ts';
import { refuseUnknownParameters } from './parameters.ts';
import { parseRequestParams, Refusal, RequestParams } from './request.ts';

/** A response, with the reason for the transcript if the call was refused. */
type BotApiResponse = HttpResponse & { readonly description?: string };

const FILE_PATH = /\/file\/bot([^/]+)\/(.+)$/;
const PATH = /\/bot([^/]+)\/([A-Za-z]+)\/?$/;

/**
 * Answers `…/bot<token>/<method>` and returns 404 for other paths; records every call in the
 * transcript.
 */
export class BotApiServer {
  readonly #account: BotAccount;
  readonly #token: string;
  readonly #faults: FaultInjector;

  constructor(account: BotAccount, token: string, faults: FaultInjector) {
    this.#account = account;
    this.#token = token;
    this.#faults = faults;
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, owner, path] = FILE_PATH.exec(decodeURIComponent(url.pathname)) ?? [];
    if (owner !== undefined && path !== undefined) return this.#serve(owner, path, response);
    const [, token, method] = PATH.exec(decodeURIComponent(url.pathname)) ?? [];
    if (token === undefined || method === undefined || !/^\d+:/.test(token)) {
      return writeResponse(response, toRefusalResponse(new Refusal(404, 'Not Found')));
    }
    if (token !== this.#token)
      return writeResponse(response, toRefusalResponse(new Refusal(401, 'Unauthorized')));
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const params = await parseRequestParams(request, url.searchParams).catch(
      (error: unknown) => error,
    );
    if (!(params instanceof RequestParams)) return writeResponse(response, toErrorResponse(params));
    await this.#call(method, params, response, gone.signal);
  }

  /** Serves a file; faults for downloads use the method name `download`. */
  #serve(token: string, path: string, response: ServerResponse): void {
    if (token !== this.#token) {
      writeResponse(response, toRefusalResponse(new Refusal(401, 'Unauthorized')));
      return;
    }
    const fault = this.#faults.takeFor('download', undefined);
    const outcome = fault === undefined ? undefined : toFaultOutcome(fault);
    if (outcome === 'reset') response.socket?.resetAndDestroy();
    else if (typeof outcome === 'object') writeResponse(response, outcome);
    else if (outcome !== 'hang') this.#account.files.serve(path, response);
  }

  async #call(
    method: string,
    params: RequestParams,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    this.#account.transcript.arrived(method.toLowerCase());
    const fault = this.#faults.takeFor(method.toLowerCase(), params.integer('chat_id'));
    const effective = fault === undefined || fault.after === true || fault.kind === 'delay';
    if (fault?.kind === 'delay') await sleep(fault.ms, response);
    const answer = effective ? await this.#run(method, params, gone) : undefined;
    const outcome = fault === undefined ? undefined : toFaultOutcome(fault);
    const final = outcome === undefined || outcome === 'as usual' ? answer : outcome;
    const description = typeof final === 'object' ? final.description : undefined;
    this.#account.transcript.record({
      method,
      params: params.values,
      outcome: typeof final === 'object' ? final.status : (final ?? 'reset'),
      ...(description === undefined ? {} : { description }),
    });
    if (final === 'reset') response.socket?.resetAndDestroy();
    else if (typeof final === 'object') writeResponse(response, final);
  }

  async #run(name: string, params: RequestParams, gone: AbortSignal): Promise<BotApiResponse> {
    const method = METHODS[name.toLowerCase()];
    if (method === undefined)
      return toRefusalResponse(new Refusal(404, 'Not Found: method not found'));
    try {
      refuseUnknownParameters(name.toLowerCase(), params);
      const result = await method(this.#account, params, gone);
      return createJsonResponse(200, { ok: true, result });
    } catch (error) {
      return toErrorResponse(error);
    }
  }
}

function toFaultOutcome(fault: Fault): BotApiResponse | 'reset' | 'hang' | 'as usual' {
  switch (fault.kind) {
    case 'status':
      return {
        status: fault.status,
        type: 'text/html',
        body: fault.body ?? `<html><h1>${fault.status}</h1></html>`,
      };
    case 'refuse':
      return toRefusalResponse(new Refusal(fault.code, fault.description, fault.parameters));
    case 'garbage':
      return { status: 200, type: 'application/json', body: '{"ok":true,"resu' };
    case 'delay':
      return 'as usual';
    default:
      return fault.kind;
  }
}

function toErrorResponse(error: unknown): BotApiResponse {
  return error instanceof Refusal ? toRefusalResponse(error) : createFailureResponse(error);
}

function toRefusalResponse({ code, message, parameters }: Refusal): BotApiResponse {
  const body = {
    ok: false,
    error_code: code,
    description: message,
    ...(parameters && { parameters }),
  };
  return { ...createJsonResponse(code, body), description: message };
}
