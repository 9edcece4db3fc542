import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, broken, json, sleep, write } from '../loopback.ts';
import type { BotAccount } from './account.ts';
import type { Fault, Faults } from './faults.ts';
import { METHODS } from './methods.ts';
import { refuseUnknownParameters } from './parameters.ts';
import { Refusal, RequestParams, readParams } from './request.ts';

/** A response, with the reason for the transcript if the call was refused. */
type BotAnswer = Answer & { readonly description?: string };

const FILE_PATH = /\/file\/bot([^/]+)\/(.+)$/;
const PATH = /\/bot([^/]+)\/([A-Za-z]+)\/?$/;

/**
 * Answers `…/bot<token>/<method>` and returns 404 for other paths; records every call in the
 * transcript.
 */
export class BotApiServer {
  readonly #account: BotAccount;
  readonly #token: string;
  readonly #faults: Faults;

  constructor(account: BotAccount, token: string, faults: Faults) {
    this.#account = account;
    this.#token = token;
    this.#faults = faults;
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const [, owner, path] = FILE_PATH.exec(decodeURIComponent(url.pathname)) ?? [];
    if (owner !== undefined && path !== undefined) return this.#serve(owner, path, response);
    const [, token, method] = PATH.exec(decodeURIComponent(url.pathname)) ?? [];
    if (token === undefined || method === undefined || !/^\d+:/.test(token)) {
      return write(response, refused(new Refusal(404, 'Not Found')));
    }
    if (token !== this.#token) return write(response, refused(new Refusal(401, 'Unauthorized')));
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const params = await readParams(request, url.searchParams).catch((error: unknown) => error);
    if (!(params instanceof RequestParams)) return write(response, answerFor(params));
    await this.#call(method, params, response, gone.signal);
  }

  /** Serves a file; faults for downloads use the method name `download`. */
  #serve(token: string, path: string, response: ServerResponse): void {
    if (token !== this.#token) {
      write(response, refused(new Refusal(401, 'Unauthorized')));
      return;
    }
    const fault = this.#faults.takeFor('download', undefined);
    const outcome = fault === undefined ? undefined : outcomeOf(fault);
    if (outcome === 'reset') response.socket?.resetAndDestroy();
    else if (typeof outcome === 'object') write(response, outcome);
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
    const outcome = fault === undefined ? undefined : outcomeOf(fault);
    const final = outcome === undefined || outcome === 'as usual' ? answer : outcome;
    const description = typeof final === 'object' ? final.description : undefined;
    this.#account.transcript.record({
      method,
      params: params.values,
      outcome: typeof final === 'object' ? final.status : (final ?? 'reset'),
      ...(description === undefined ? {} : { description }),
    });
    if (final === 'reset') response.socket?.resetAndDestroy();
    else if (typeof final === 'object') write(response, final);
  }

  async #run(name: string, params: RequestParams, gone: AbortSignal): Promise<BotAnswer> {
    const method = METHODS[name.toLowerCase()];
    if (method === undefined) return refused(new Refusal(404, 'Not Found: method not found'));
    try {
      refuseUnknownParameters(name.toLowerCase(), params);
      const result = await method(this.#account, params, gone);
      return json(200, { ok: true, result });
    } catch (error) {
      return answerFor(error);
    }
  }
}

function outcomeOf(fault: Fault): BotAnswer | 'reset' | 'hang' | 'as usual' {
  switch (fault.kind) {
    case 'status':
      return {
        status: fault.status,
        type: 'text/html',
        body: fault.body ?? `<html><h1>${fault.status}</h1></html>`,
      };
    case 'refuse':
      return refused(new Refusal(fault.code, fault.description, fault.parameters));
    case 'garbage':
      return { status: 200, type: 'application/json', body: '{"ok":true,"resu' };
    case 'delay':
      return 'as usual';
    default:
      return fault.kind;
  }
}

function answerFor(error: unknown): BotAnswer {
  return error instanceof Refusal ? refused(error) : broken(error);
}

function refused({ code, message, parameters }: Refusal): BotAnswer {
  const body = {
    ok: false,
    error_code: code,
    description: message,
    ...(parameters && { parameters }),
  };
  return { ...json(code, body), description: message };
}
