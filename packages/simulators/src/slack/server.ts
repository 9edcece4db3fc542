import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createFailureResponse,
  createJsonResponse,
  type HttpResponse,
  sleep,
  writeResponse,
} from '../loopback.ts';
import type { CallFault, FaultInjector } from './faults.ts';
import { receiveUpload } from './files.ts';
import { METHODS } from './methods.ts';
import {
  createRateLimitRefusal,
  createRefusal,
  parseArguments,
  Refusal,
  RequestArguments,
  readBody,
} from './request.ts';
import { applyInteractionResponse } from './responding.ts';
import type { SlackServers } from './servers.ts';
import type { SocketMode } from './socket-mode.ts';
import { applyOptionalFieldMode } from './workspace.ts';

/** A response, with the error code for the transcript if the call was refused. */
type SlackResponse = HttpResponse & { readonly error?: string };

/** An HTTP request from the bot; `name` identifies it in faults and in the transcript. */
interface ApiCall {
  readonly name: string;
  readonly args: RequestArguments;
  run(): SlackResponse;
}

/**
 * Answers `/api/<method>`, uploads, downloads and response URLs with the double's state, and other
 * paths with 404. Records every call in the transcript.
 */
export class WebApiServer {
  readonly #servers: SlackServers;
  readonly #faults: FaultInjector;
  readonly #socket: SocketMode;

  constructor(servers: SlackServers, faults: FaultInjector, socket: SocketMode) {
    this.#servers = servers;
    this.#faults = faults;
    this.#socket = socket;
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    if (url.pathname.startsWith('/files-pri/')) return this.#download(request, response, url);
    const body = await readBody(request);
    const type = request.headers['content-type'] ?? '';
    if (url.pathname.startsWith('/upload/')) return this.#upload(body, type, response, url);
    const args = await parseArguments(body, type, url.searchParams).catch(
      (error: unknown) => error,
    );
    if (!(args instanceof RequestArguments)) return writeResponse(response, toErrorResponse(args));
    const call = this.#callFor(request, url, args);
    if (call === undefined) return writeResponse(response, createNotFoundResponse());
    await this.#perform(call, response);
  }

  #callFor(request: IncomingMessage, url: URL, args: RequestArguments): ApiCall | undefined {
    const method = /^\/api\/([\w.]+)\/?$/.exec(url.pathname)?.[1];
    if (method !== undefined) {
      const token = parseBearerToken(request) ?? args.text('token');
      return { name: method, args, run: () => this.#run(method, token, args) };
    }
    if (!url.pathname.startsWith('/actions/')) return undefined;
    return { name: 'response_url', args, run: () => this.#respond(url.pathname, args) };
  }

  async #perform({ name, args, run }: ApiCall, response: ServerResponse): Promise<void> {
    const channel = args.text('channel') ?? args.text('channel_id');
    const fault = this.#faults.takeForCall(name, channel);
    const isEffective = fault === undefined || fault.after === true || fault.kind === 'delay';
    if (fault?.kind === 'delay') await sleep(fault.ms, response);
    const answer = isEffective ? runCall(run) : undefined;
    const outcome = fault === undefined ? 'as usual' : toFaultOutcome(fault);
    const final = outcome === 'as usual' ? answer : outcome;
    const error = typeof final === 'object' ? final.error : undefined;
    this.#servers.workspace.transcript.recordCall({
      ...{ method: name, arguments: args.values },
      outcome: typeof final === 'object' ? final.status : (final ?? 'reset'),
      ...(error !== undefined && { error }),
    });
    if (final === 'reset') response.socket?.resetAndDestroy();
    else if (typeof final === 'object') writeResponse(response, final);
  }

  #run(name: string, token: string | undefined, args: RequestArguments): SlackResponse {
    const { workspace } = this.#servers;
    const { app } = workspace;
    if (token === undefined) throw createRefusal('not_authed');
    if (token !== app.botToken && token !== app.appToken) throw createRefusal('invalid_auth');
    if (app.isUninstalled) throw createRefusal('account_inactive');
    const isForApps = name === 'apps.connections.open';
    const method = METHODS[name];
    if (!isForApps && method === undefined) throw createRefusal('unknown_method');
    if ((token === app.appToken) !== isForApps) throw createRefusal('not_allowed_token_type');
    workspace.limits.passCall(name);
    const fields =
      method === undefined
        ? { url: this.#socket.open(workspace.origin) }
        : method(this.#servers, args);
    return createJsonResponse(200, applyOptionalFieldMode(workspace, { ok: true, ...fields }));
  }

  #respond(path: string, args: RequestArguments): SlackResponse {
    const interaction = this.#servers.interactions.useAddress(path);
    if (interaction === undefined || typeof interaction === 'string')
      return {
        ...createJsonResponse(404, { ok: false, error: interaction ?? 'invalid_url' }),
        error: 'gone',
      };
    applyInteractionResponse(this.#servers, interaction, args.values);
    return { status: 200, type: 'text/html', body: 'ok' };
  }

  /** Receives a file as the whole body or as a part of a form. */
  async #upload(
    body: Buffer<ArrayBuffer>,
    type: string,
    response: ServerResponse,
    url: URL,
  ): Promise<void> {
    const bytes = await readUploadedBytes(body, type);
    const args = await parseArguments(Buffer.alloc(0), '', url.searchParams);
    const id = url.pathname.split('/').at(-1) ?? '';
    const run = () =>
      receiveUpload(this.#servers.workspace, id, bytes)
        ? { status: 200, type: 'text/plain', body: `OK - ${bytes.length}` }
        : createNotFoundResponse();
    await this.#perform({ name: 'upload', args, run }, response);
  }

  /**
   * Serves a file to the bot; without the bot token, responds with a sign-in page, as Slack does.
   */
  #download(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const { app, files } = this.#servers.workspace;
    const id = /\/T\w+-(F\w+)\//.exec(url.pathname)?.[1] ?? '';
    const file = files.get(id);
    const fault = this.#faults.takeForCall('download', undefined);
    const outcome = fault === undefined ? 'as usual' : toFaultOutcome(fault);
    if (outcome === 'reset') response.socket?.resetAndDestroy();
    else if (typeof outcome === 'object') writeResponse(response, outcome);
    else if (outcome === 'hang') return;
    else if (parseBearerToken(request) !== app.botToken) writeResponse(response, SIGN_IN);
    else if (file?.bytes === undefined) writeResponse(response, createNotFoundResponse());
    else response.writeHead(200, { 'content-type': file.type }).end(file.bytes);
  }
}

const SIGN_IN: HttpResponse = {
  status: 200,
  type: 'text/html',
  body: '<!DOCTYPE html><html><title>Sign in to the workspace</title></html>',
};

function runCall(run: () => SlackResponse): SlackResponse {
  try {
    return run();
  } catch (error) {
    return toErrorResponse(error);
  }
}

function toFaultOutcome(fault: CallFault): SlackResponse | 'reset' | 'hang' | 'as usual' {
  switch (fault.kind) {
    case 'status': {
      const body = fault.body ?? `<html><h1>${fault.status}</h1></html>`;
      return { status: fault.status, type: 'text/html', body };
    }
    case 'refuse':
      return toErrorResponse(createRefusal(fault.error));
    case 'rate-limit':
      return toErrorResponse(createRateLimitRefusal(fault.seconds));
    case 'garbage':
      return { status: 200, type: 'application/json', body: '{"ok":true,"chan' };
    case 'delay':
      return 'as usual';
    default:
      return fault.kind;
  }
}

function toErrorResponse(error: unknown): SlackResponse {
  if (!(error instanceof Refusal)) return createFailureResponse(error);
  const { status, message, details, retryAfter } = error;
  return {
    ...createJsonResponse(status, { ok: false, error: message, ...details }),
    ...(retryAfter !== undefined && { headers: { 'retry-after': String(retryAfter) } }),
    error: message,
  };
}

function createNotFoundResponse(): SlackResponse {
  return { status: 404, type: 'text/plain', body: 'Not found', error: 'not_found' };
}

function parseBearerToken(request: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
}

async function readUploadedBytes(
  body: Buffer<ArrayBuffer>,
  type: string,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!type.startsWith('multipart/form-data')) return new Uint8Array(body);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const file = [...form.values()].find((value) => typeof value !== 'string');
  return file === undefined ? new Uint8Array(0) : new Uint8Array(await file.arrayBuffer());
}
